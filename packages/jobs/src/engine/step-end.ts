import { addCalls, type CallCounts, noCalls } from "./documents.ts";
import { endJob } from "./end.ts";
import type { CallFault } from "./invoke.ts";
import { noteErrorOf } from "./note-error.ts";
import type { Run } from "./run.ts";

/** What the driver does after an act: `on` goes on with the job, `left` has given its task back or ended it. */
export type Next = "on" | "left";

/** Adds calls to what a step's receipt counts. */
export function countCalls(run: Run, stepId: string, calls: CallCounts): void {
  run.patchReceipt(stepId, { calls: addCalls(run.receiptOf(stepId).calls ?? noCalls, calls) });
}

/** Fails a step, and with it the job. */
export async function failStep(run: Run, stepId: string, fault: Pick<CallFault, "code" | "message">): Promise<Next> {
  const { errors } = run.receiptOf(stepId);
  if (!errors.some(({ code }) => code === fault.code)) {
    noteErrorOf(run, stepId, { code: fault.code, ordinal: 0, message: fault.message });
  }
  run.finishStep(stepId, "failed", run.job.position);
  run.job.lastError = `${fault.code}: step ${stepId}: ${fault.message}`.slice(0, 1000).toWellFormed();
  return endJob(run, "failed");
}

/** Fails a step because a limit of the job is reached. */
export function failAtLimit(run: Run, stepId: string, limit: "toolCalls" | "writes" | "rows" | "asks"): Promise<Next> {
  const max = run.program.limits[limit];
  run.note("limit-reached", stepId, { limit, max });
  return failStep(run, stepId, { code: "LIMIT_REACHED", message: `the job's limit of ${max} ${limit} is reached` });
}

/** Gives the job back until a time; what is pending is committed with it. */
export async function leaveUntil(run: Run, dueAtMs: number): Promise<Next> {
  const { deadlineAt } = run.job;
  await run.commit({ dueAtMs: deadlineAt === null ? dueAtMs : Math.min(dueAtMs, deadlineAt) });
  return "left";
}

const progressPauseMs = 5_000;

/** Logs how far a step is, at most once in 5 seconds. */
export function noteProgress(run: Run, stepId: string, counts: Readonly<Record<string, unknown>>): void {
  if (run.now - run.progressLoggedAt < progressPauseMs) return;
  run.progressLoggedAt = run.now;
  const { rows } = run.receiptOf(stepId);
  run.note("step-progress", stepId, { ...counts, ...(rows && { rows }) });
}
