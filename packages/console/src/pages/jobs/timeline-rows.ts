import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Job, JobStep, StepReceipt, StepSpan, StepWait } from "@svc/gen/jobs";
import type { ToolCall } from "@svc/gen/tools";
import { cutSpans, mergeSpans } from "../../ui/flow/fold.ts";
import type { IconName } from "../../ui/icon.tsx";
import { outcomeWord } from "../../words/calls.ts";
import { stepWord } from "../../words/jobs.ts";
import { durationWords } from "../../words/time.ts";
import { labelOf, type Tone } from "../../words/word.ts";
import { leftWords } from "./job-words.ts";
import type { ListedStep } from "./program.ts";

/** A bar of a step: a time in which the step ran or waited. `to` is undefined until it ends. */
type StepBar = {
  readonly id: string;
  readonly from: number;
  readonly to: number | undefined;
  readonly look: Tone | "wait" | "undone";
  readonly number: number;
  readonly words: string;
};

/**
 * One row of a job's timeline, with only those values that do not change as time passes. `stepId`: the step whose details a press on the row
 * opens.
 */
export type JobRow = {
  readonly id: string;
  readonly stepId: string;
  readonly parent: string | undefined;
  readonly level: number;
  readonly kind: string;
  readonly tool: string;
  readonly name: string;
  readonly title: string;
  readonly block: string;
  readonly mark: { readonly icon: IconName; readonly tone: Tone } | undefined;
  readonly bars: readonly StepBar[];
  readonly rows: string;
  /** Words in place of the time that the step took, such as `not reached`. Empty if the step has a time. */
  readonly state: string;
  readonly hasInside: boolean;
};

/**
 * The rows of a job's timeline, and its times in epoch milliseconds. `zero`: the first start of a step. `end`: undefined while the job runs.
 * `working`: times in which a step works. `waits`: times in which a step waits.
 */
export type JobTimes = {
  readonly rows: readonly JobRow[];
  readonly zero: number;
  readonly end: number | undefined;
  readonly working: readonly Pick<StepBar, "from" | "to">[];
  readonly waits: readonly (Pick<StepBar, "from" | "to"> & { readonly words: string })[];
};

/** A tool call of a job's step, with the fields that the timeline needs. */
export type DrawnCall = Pick<ToolCall, "id" | "stepId" | "toolSlug" | "outcome" | "createdAt" | "durationMs">;

/** Data that the service returned about a job's steps: their states and receipts by step id, and the job's calls if they are few. */
export type StepsNow = {
  readonly steps: ReadonlyMap<string, JobStep>;
  readonly receipts: ReadonlyMap<string, StepReceipt>;
  readonly calls: readonly DrawnCall[];
};

/** Kinds of steps without work of their own: they wait, ask a person, or end the job. */
const idleKinds: ReadonlySet<string> = new Set(["wait", "judge", "fail"]);

/** States of steps that the user should see at once, even if the bars are too narrow. */
const marked: ReadonlySet<string> = new Set(["failed", "partial", "running"]);

/** Returns the rows of a job's timeline, in the order of its program, and the times in which its steps worked and waited. */
export function jobTimes(
  job: Pick<Job, "createdAt" | "finishedAt">,
  program: readonly ListedStep[],
  now: StepsNow,
): JobTimes {
  const rows = program.flatMap((step) => rowsOfStep(step, { parent: undefined, level: 1, block: "" }, { job, now }));
  const bars = rows.flatMap((row) => row.bars);
  const starts = bars.map(({ from }) => from);
  return {
    rows,
    zero: starts.length > 0 ? Math.min(...starts) : msOf(job.createdAt, 0),
    end: job.finishedAt === undefined ? undefined : timestampMs(job.finishedAt),
    // The calls of a map are part of its own work.
    working: rows
      .filter(({ id, stepId, kind, hasInside }) => id === stepId && !hasInside && !idleKinds.has(kind))
      .flatMap(workingOf),
    waits: bars
      .filter(({ look }) => look === "wait")
      .map(({ from, to, words }) => ({ from, to, words: words.replace(/^wait\w+ /, "") })),
  };
}

/** Returns the times in which a step worked: those in which it ran and did not wait. */
function workingOf({ bars }: JobRow): readonly Pick<StepBar, "from" | "to">[] {
  const never = Number.MAX_SAFE_INTEGER;
  const closed = bars.map(({ from, to = never, look }) => ({ from, to, look }));
  const waits = mergeSpans(closed.filter(({ look }) => look === "wait"));
  const ran = closed.filter(({ look }) => look !== "wait");
  return cutSpans(ran, waits).map(({ from, to }) => ({ from, to: to === never ? undefined : to }));
}

/**
 * Returns the time in which at least one step of a job worked, in milliseconds. `nowMs`: the present time, at which a step that still works
 * is counted as ended.
 */
export function workedMs({ working }: Pick<JobTimes, "working">, nowMs: number): number {
  let [sum, last] = [0, Number.NEGATIVE_INFINITY];
  for (const { from, to = nowMs } of [...working].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, last));
    last = Math.max(last, to);
  }
  return sum;
}

type Place = Pick<JobRow, "parent" | "level" | "block">;
type Reading = { readonly job: Pick<Job, "finishedAt">; readonly now: StepsNow };

function rowsOfStep(listed: ListedStep, place: Place, reading: Reading): JobRow[] {
  const { id, kind, tool, blocks, calls } = listed;
  const step = reading.now.steps.get(id);
  const receipt = reading.now.receipts.get(id);
  const inner = { parent: id, level: place.level + 1 };
  const inside = blocks.flatMap((block) =>
    block.steps.flatMap((one, index) => {
      const named = index > 0 ? "" : block.name.replace(/^branch /, "");
      const name = named === one.id ? "" : named;
      return rowsOfStep(one, { ...inner, block: name }, reading);
    }),
  );
  const word = stepWord(step?.state ?? "waiting");
  const own: JobRow = {
    ...place,
    id,
    stepId: id,
    kind,
    tool,
    name: id,
    title: step?.title ?? "",
    mark: marked.has(word.word) ? { icon: word.icon, tone: word.tone } : undefined,
    bars: step === undefined ? [] : barsOf(listed, step, { ...reading, inside }),
    rows: rowsWords(step, receipt),
    state: step?.startedAt === undefined ? labelOf(word).toLowerCase() : "",
    hasInside: inside.length > 0,
  };
  const callRows = calls.map((call) => {
    // Calls of one tool that a row makes twice cannot be told apart.
    const isAlone = calls.filter(({ tool }) => tool === call.tool).length === 1;
    const made = reading.now.calls.filter(({ stepId, toolSlug }) => stepId === id && toolSlug === call.tool);
    return callRow(call, { ...inner, block: "", stepId: id }, isAlone ? made : []);
  });
  return [own, ...callRows, ...inside];
}

/** Returns the row of a call that a `map` makes for each row. `made`: these calls, each of which is a bar. */
function callRow(call: ListedStep, place: Place & Pick<JobRow, "stepId">, made: readonly DrawnCall[]): JobRow {
  const { id, kind, tool } = call;
  const bars = made.map((one): StepBar => {
    const { tone, word, label = word } = outcomeWord(one.outcome);
    const from = msOf(one.createdAt, 0);
    const to = one.outcome === "running" ? undefined : from + one.durationMs;
    return { id: one.id, from, to, look: tone, number: 0, words: label.toLowerCase() };
  });
  const failed = bars.filter(({ look }) => look === "bad").length;
  const count = `${numeral(made.length)} ${made.length === 1 ? "call" : "calls"}`;
  return {
    ...place,
    ...{ id: `${place.stepId}/${id}`, kind, tool, name: id, title: toolWords(call), bars, state: "", hasInside: false },
    mark: failed > 0 ? { icon: "cross", tone: "bad" } : undefined,
    rows: failed > 0 ? `${numeral(failed)} failed` : made.length > 0 ? count : "",
  };
}

/** Returns what a call of a `map` does: the name of its tool in words, such as `Send message`. */
function toolWords({ tool, says }: ListedStep): string {
  const name = tool.slice(tool.indexOf(".") + 1).replaceAll("_", " ");
  return name === "" || tool === "http" ? says : name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** Returns the bars of a step: one for each time that it ran, and hatched ones for the times in which it waited. */
function barsOf(
  { kind }: ListedStep,
  step: JobStep,
  { job, inside }: Reading & { readonly inside: readonly JobRow[] },
): StepBar[] {
  const ended = job.finishedAt && timestampMs(job.finishedAt);
  const waits = step.waits.map((wait, index) => waitBar(wait, index, ended));
  if ((kind === "judge" || kind === "wait") && waits.length > 0) return waits;
  const isBlock = inside.length > 0 && step.spans.length === 1;
  const spans = step.spans.map((span, index): StepBar => {
    const from = msOf(span.startedAt, 0);
    const end = span.finishedAt ?? step.spans[index + 1]?.startedAt;
    const own = { from, to: end === undefined ? ended : Math.max(from, timestampMs(end)) };
    const times = isBlock ? around(own, inside) : own;
    const isLast = index === step.spans.length - 1;
    const state = times.to === undefined ? "running" : (isLast ? step.state : span.state) || span.state;
    return { id: String(index), ...times, ...lookOf(state), ...numberOf(step.spans, index, labelOf(stepWord(state))) };
  });
  return [...spans, ...waits];
}

function lookOf(state: string): Pick<StepBar, "look"> {
  return { look: state === "undone" ? "undone" : stepWord(state).tone };
}

/** Returns the number that a bar shows, and its words, such as `round 2, done`. A step with one bar has no number. */
function numberOf(spans: readonly StepSpan[], index: number, label: string): Pick<StepBar, "number" | "words"> {
  const state = label.toLowerCase();
  const span = spans[index];
  if (span === undefined || spans.length < 2) return { number: 0, words: state };
  if (span.round > 0) return { number: span.round, words: `round ${span.round}, ${state}` };
  const isRetried = spans.some(({ attempt }) => attempt !== span.attempt);
  return isRetried
    ? { number: span.attempt, words: `attempt ${span.attempt}, ${state}` }
    : { number: index + 1, words: `run ${index + 1}, ${state}` };
}

/** The end of the sentence “The step waits …”, by the reason of the wait. For all other reasons, it waits for a person. */
const waitWords: Readonly<Record<string, string>> = {
  wait: "for a time",
  child: "for another job",
  paused: "while the job was paused",
  poisoned: "while svc had stopped the job",
  administrator: "while an administrator had stopped the job",
};

function waitBar(wait: StepWait, index: number, ended: number | undefined): StepBar {
  const { reason, principalId } = wait;
  const from = msOf(wait.since, 0);
  const to = wait.until === undefined ? ended : Math.max(from, timestampMs(wait.until));
  const words = (Object.hasOwn(waitWords, reason) && waitWords[reason]) || `for ${principalId || "a person"}`;
  return {
    id: `wait ${index}`,
    from,
    to,
    look: "wait",
    number: 0,
    words: `${to === undefined ? "waiting" : "waited"} ${words}`,
  };
}

/** Returns the time of a block: its own time, and the times of the steps inside it. */
function around(own: Pick<StepBar, "from" | "to">, inside: readonly JobRow[]): Pick<StepBar, "from" | "to"> {
  const bars = [own, ...inside.flatMap((row) => row.bars)];
  const ends = bars.map(({ to }) => to);
  return {
    from: Math.min(...bars.map(({ from }) => from)),
    to: ends.some((to) => to === undefined) ? undefined : Math.max(...ends.map((to) => to ?? 0)),
  };
}

/** Returns the number of a step's rows in few words, such as `3 rows`, `1 of 3`, `2 failed` or `12/40`. */
export function rowsWords(
  step: Pick<JobStep, "state" | "rowsDone" | "rowsRemaining" | "rowsMade"> | undefined,
  receipt: Pick<StepReceipt, "rows"> | undefined,
): string {
  if (step === undefined) return "";
  const counts = receipt?.rows;
  const [failed] = counts === undefined ? [] : leftWords(counts);
  if (failed !== undefined) return failed;
  const { rowsDone, rowsRemaining = 0, rowsMade } = step;
  if (step.state === "running" && rowsRemaining > 0) return `${numeral(rowsDone)}/${numeral(rowsDone + rowsRemaining)}`;
  if (rowsMade !== undefined && rowsMade !== rowsDone && rowsDone > 0)
    return `${numeral(rowsMade)} of ${numeral(rowsDone)}`;
  const count = counts?.in ?? rowsMade ?? rowsDone;
  if (count > 0) return count === 1 ? "1 row" : `${numeral(count)} rows`;
  return counts !== undefined || rowsMade !== undefined ? "no rows" : "";
}

/** Returns the text for the duration of a timeline row up to now. If the row's step has not begun, returns words such as `not reached`. */
export function timeWords({ bars, state }: Pick<JobRow, "bars" | "state">, nowMs: number): string {
  if (bars.length === 0) return state;
  const ran = bars.filter(({ look }) => look !== "wait");
  const counted = ran.length > 0 ? ran : bars;
  return durationWords(counted.reduce((sum, { from, to = nowMs }) => sum + Math.max(0, to - from), 0));
}

/** Returns the time in milliseconds that the runs of a step took. `endMs`: the end of a run that has not ended. */
export function stepMs({ spans, startedAt, finishedAt }: JobStep, endMs: number): number {
  const runs = spans.length > 0 ? spans : [{ startedAt, finishedAt }];
  const msOf = (at: Timestamp | undefined) => (at === undefined ? endMs : timestampMs(at));
  return runs.reduce((sum, run) => sum + Math.max(0, msOf(run.finishedAt) - msOf(run.startedAt)), 0);
}

function numeral(count: number): string {
  return count.toLocaleString("en");
}

function msOf(at: Timestamp | undefined, otherwise: number): number {
  return at === undefined ? otherwise : timestampMs(at);
}
