import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type DescribedStep,
  type DescribeProgramResponse,
  type Job,
  JobStatus,
  type JobStep,
  type ProgramRead,
  ProgramReadKind,
  type StepReceipt,
} from "@svc/gen/jobs";
import type { GraphLook, GraphProgram, GraphRead, GraphRun, GraphStep } from "../../ui/flow/graph-model.ts";
import { stepWord } from "../../words/jobs.ts";
import { durationWords } from "../../words/time.ts";
import { leftWords } from "./job-words.ts";
import { stepMs } from "./timeline-rows.ts";

const kinds: Readonly<Record<ProgramReadKind, GraphRead["what"] | undefined>> = {
  [ProgramReadKind.UNSPECIFIED]: undefined,
  [ProgramReadKind.INPUT]: "input",
  [ProgramReadKind.PARAMS]: "params",
  [ProgramReadKind.VALUE]: "value",
  [ProgramReadKind.ERROR]: "error",
  [ProgramReadKind.ROWS]: "rows",
  [ProgramReadKind.COUNT]: "count",
  [ProgramReadKind.ANSWER]: "answer",
  [ProgramReadKind.UNDONE]: "undone",
};

/** Converts the service's description of a program to the form that the graph of the program needs. */
export function toGraphProgram({ programHash, steps, result }: DescribeProgramResponse): GraphProgram {
  const input = steps[0]?.scope.flatMap(({ name }) => /^input\.(\w+)$/.exec(name)?.[1] ?? []) ?? [];
  return {
    key: programHash,
    input,
    steps: steps.map(toGraphStep),
    result: result.map(({ name, reads }) => ({ name, reads: reads.flatMap(toGraphRead) })),
  };
}

function toGraphStep({
  stepId,
  kind,
  parentStepId,
  branch,
  title,
  toolSlug,
  toolkitName,
  reads,
}: DescribedStep): GraphStep {
  const shown = { id: stepId, kind, parentId: parentStepId, branch, title, tool: toolSlug, app: toolkitName };
  return { ...shown, reads: reads.flatMap(toGraphRead) };
}

function toGraphRead({ from, path, what }: ProgramRead): GraphRead[] {
  const kind = (kinds as Readonly<Record<number, GraphRead["what"] | undefined>>)[what];
  return kind === undefined ? [] : [{ from, path, what: kind }];
}

/**
 * Returns the present states of a job's steps in the form that the graph of the program needs. `nowMs`: time up to which a running step is
 * counted, in epoch milliseconds.
 */
export function toGraphRun(
  job: Pick<Job, "status" | "stepReceipts" | "finishedAt">,
  steps: readonly JobStep[],
  nowMs: number,
): GraphRun {
  const receipts = new Map(job.stepReceipts.map((receipt) => [receipt.stepId, receipt]));
  const endMs = job.finishedAt === undefined ? nowMs : timestampMs(job.finishedAt);
  return {
    looks: new Map(steps.map((step) => [step.stepId, toLook(step, receipts.get(step.stepId), endMs)])),
    hasStarted: steps.some(({ startedAt }) => startedAt !== undefined),
    hasSucceeded: job.status === JobStatus.SUCCEEDED,
  };
}

function toLook(step: JobStep, receipt: StepReceipt | undefined, endMs: number): GraphLook {
  const { state, startedAt, rowsDone, rowsRemaining, rowsMade } = step;
  const isRunning = state === "running";
  const total = rowsRemaining === undefined ? undefined : rowsDone + rowsRemaining;
  const rows = isRunning && total !== undefined && total > 0 ? `${count(rowsDone)} of ${count(total)}` : rowsText(step);
  // A filter skips the rows that it does not keep. How many it kept says enough.
  const { failed = 0, unknown = 0, skipped = 0 } = receipt?.rows ?? {};
  const lost = leftWords({ failed, unknown, skipped: rowsMade === undefined || rowsMade === rowsDone ? skipped : 0 });
  const time = startedAt === undefined ? [] : [durationWords(stepMs(step, endMs))];
  return {
    word: stepWord(state),
    facts: [...(rows === "" ? [] : [rows]), ...lost, ...time].join(" · "),
    rowsOut: rowsMade ?? (rowsDone > 0 ? rowsDone : undefined),
    hasStarted: startedAt !== undefined,
    isRunning,
    progress: total === undefined || total === 0 ? undefined : rowsDone / total,
  };
}

/** Returns how many rows a step took and made, such as `1 of 3` or `3 rows`. Empty for a step without rows. */
function rowsText({ rowsDone, rowsMade }: JobStep): string {
  if (rowsMade !== undefined && rowsDone > 0 && rowsMade !== rowsDone)
    return `${count(rowsMade)} of ${count(rowsDone)}`;
  const rows = rowsMade ?? rowsDone;
  return rows === 0 ? "" : rows === 1 ? "1 row" : `${count(rows)} rows`;
}

function count(value: number): string {
  return value.toLocaleString("en");
}
