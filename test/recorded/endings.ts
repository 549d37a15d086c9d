import { isDeepStrictEqual } from "node:util";
import type { Ending, History, JobEnding } from "./history.ts";

/** An ending as a recording holds it beside the first: of each job only what is another there. */
export function shortened(ending: Ending, first: Ending): Ending {
  return { ...ending, jobs: ending.jobs.map((one, index) => shortenedJob(one, first.jobs[index])) };
}

function shortenedJob({ job, log }: JobEnding, first: JobEnding | undefined): JobEnding {
  const changed = Object.entries(job).filter(([name, value]) => !isDeepStrictEqual(value, first?.job[name]));
  return { job: Object.fromEntries(changed), log };
}

/** The whole of the ending that a run comes to from an entry. */
export function endingAt({ endings }: Pick<History, "endings">, { ending = 0 }: { readonly ending?: number }): Ending {
  const [first] = endings;
  const own = endings[ending];
  if (first === undefined || own === undefined) throw new Error(`the recording has no ending ${ending}`);
  return { ...own, jobs: own.jobs.map(({ job, log }, index) => ({ job: { ...first.jobs[index]?.job, ...job }, log })) };
}

/** The steps of the recorded programs whose calls are undone by a call that names their answer. */
const undoable = new Set(["first", "second"]);

/**
 * An ending as it is on purpose since 0.2: of a write in doubt that was treated as done 0.1 left out in silence that it is to be undone.
 * It counts as an undo that failed now, since nobody has its answer.
 */
export function withLostUndos(ending: Ending, { endings }: Pick<History, "endings">): Ending {
  return { ...ending, jobs: ending.jobs.map((one, index) => withLostUndosOf(one, endings[0]?.jobs[index])) };
}

function withLostUndosOf({ job, log }: JobEnding, whole: JobEnding | undefined): JobEnding {
  const { saga, receipt, stepReceipts = [] } = job as EndedJob;
  if (saga === undefined || saga.state === "none") return { job, log };
  const isLost = ({ stepId, calls, decision }: EndedStep) =>
    undoable.has(stepId) && (calls?.unknown ?? 0) > 0 && decision?.continuation === "proceed";
  const count = stepReceipts.filter(isLost).length;
  // Where nothing else was to be undone, the job now passes through undoing, as the whole run did.
  const isUndoing =
    count > 0 && saga.entries === 0 && (whole?.job as EndedJob | undefined)?.saga?.state === "compensated";
  const state = isUndoing ? "compensated" : saga.state;
  const counted = { ...saga, state, entries: saga.entries + count, failed: saga.failed + count };
  const steps = stepReceipts.map((step) => (isLost(step) ? { ...step, undo: { done: 0, failed: 1 } } : step));
  const ended = { ...job, saga: counted, receipt: { ...receipt, saga: counted }, stepReceipts: steps };
  return { job: ended, log: isUndoing ? log.flatMap(undoing) : log };
}

/** What is logged in place of an entry of a job that was cancelled at once. */
function undoing(entry: string): readonly string[] {
  if (entry.startsWith("ask-withdrawn")) return ["job-status-changed parked compensating cancelled by key", entry];
  if (entry !== "job-status-changed parked cancelled cancelled by key") return [entry];
  return ["compensation-step finished by key", "job-status-changed compensating cancelled compensated by key"];
}

type EndedStep = {
  readonly stepId: string;
  readonly calls?: { readonly unknown: number } | null;
  readonly decision?: { readonly continuation: string } | null;
};

type EndedJob = {
  readonly saga?: { readonly state: string; readonly entries: number; readonly failed: number };
  readonly receipt?: object;
  readonly stepReceipts?: readonly EndedStep[];
};
