import { loadJob, withTransaction } from "@svc/db";
import { stopDeadline } from "./deadline.ts";
import { noteErrorOf } from "./note-error.ts";
import { receiptOf } from "./receipt.ts";
import { type Run, runTaskOf } from "./run.ts";
import { isEnd, type JobStatus } from "./states.ts";
import type { Next } from "./step-end.ts";

/** An end that a saga may run for. */
export type Cause = "failed" | "aborted" | "cancelled";

/** Ends a job, or begins to undo first, where the program declares that for this cause and there is something to undo. */
export async function endJob(run: Run, cause: Cause, chain: readonly string[] = run.chain): Promise<Next> {
  const undoes = run.program.sagaOn.includes(cause) && run.saga.entries > 0 && !run.isSimulated;
  if (!undoes) return finishJob(run, cause, { reason: cause, chain });
  closeOpenStep(run, cause);
  run.move("compensating", cause, chain);
  run.saga = { ...run.saga, state: "compensating", cause };
  stopDeadline(run);
  run.setProgress(undefined);
  await withdrawAsk(run, chain);
  return "on";
}

/** Ends a simulation at a point that neither proceeds nor skips. */
export function endSimulation(run: Run, stepId: string): Promise<Next> {
  run.finishStep(stepId, "partial", run.job.position);
  return finishJob(run, "succeeded", { reason: "simulation-ended", chain: run.chain });
}

/** Ends a job for good: status, receipt, log and the end of its task and pending ask are one commit. */
export async function finishJob(
  run: Run,
  status: JobStatus,
  { reason, chain }: { reason: string; chain: readonly string[] },
): Promise<Next> {
  if (!isEnd(status)) throw new Error(`${status} is no end of a job`);
  closeOpenStep(run, status);
  stopDeadline(run);
  run.job.finishedAt = run.now;
  if (run.saga.state === "compensating") run.saga = { ...run.saga, state: "compensated" };
  if (run.job.simulatedFrom !== null) {
    run.addTasks([runTaskOf({ id: run.job.simulatedFrom, projectId: run.job.projectId }, run.now)]);
  }
  const end = { status, reason, chain };
  // Only a job that has asked has an ask to withdraw.
  const hasAsked = run.used.asks > 0 || run.job.planApprovalId !== "" || run.saga.state === "stuck";
  if (hasAsked || !(await finishAtOnce(run, end))) await finishLocked(run, end, hasAsked);
  return "left";
}

type End = { readonly status: JobStatus; readonly reason: string; readonly chain: readonly string[] };

function moveToEnd(run: Run, { status, reason, chain }: End): void {
  run.move(status, reason, chain);
  run.setProgress(undefined);
}

/** One statement, as long as nobody else has written to the log since: the receipt names its last entry. */
async function finishAtOnce(run: Run, end: End): Promise<boolean> {
  moveToEnd(run, end);
  run.setReceipt(receiptOf(run, { lastSeq: run.job.lastSeq + run.pendingEvents, asks: [] }));
  return run.commit("end", { expectsSeq: true });
}

function finishLocked(run: Run, end: End, hasAsked: boolean): Promise<void> {
  const { job, context } = run;
  return withTransaction(run.db, async (tx) => {
    const locked = await loadJob(tx, job.id, { lock: true });
    job.lastSeq = locked?.lastSeq ?? job.lastSeq;
    if (hasAsked) {
      const withdrawal = { jobId: job.id, nowMs: run.now, principalChain: end.chain };
      run.noteAll(await context.asks.withdraw(tx, withdrawal));
      moveToEnd(run, end);
    }
    const asks = await context.asks.list(tx, job.id);
    run.setReceipt(receiptOf(run, { lastSeq: job.lastSeq + run.pendingEvents, asks }));
    await run.commit("end", { db: tx });
  });
}

/** Commits what is pending together with the withdrawal of the pending ask. */
async function withdrawAsk(run: Run, chain: readonly string[]): Promise<void> {
  const { job, context } = run;
  if (run.used.asks === 0) return;
  await withTransaction(run.db, async (tx) => {
    await loadJob(tx, job.id, { lock: true });
    run.noteAll(await context.asks.withdraw(tx, { jobId: job.id, nowMs: run.now, principalChain: chain }));
    await run.commit("keep", { db: tx });
  });
}

const endCodes: Readonly<Record<string, string>> = {
  failed: "FAILED",
  aborted: "ABORTED",
  cancelled: "CANCELLED",
  expired: "DEADLINE_EXCEEDED",
};

/** A step that was at work when its job ended did not complete. */
function closeOpenStep(run: Run, cause: string): void {
  for (const [stepId, { receipt }] of run.steps) {
    if (receipt.state !== "") continue;
    if (cause === "succeeded") throw new Error(`step ${stepId} is at work at the job's end`);
    noteErrorOf(run, stepId, {
      code: endCodes[cause] ?? cause,
      ordinal: 0,
      message: "the job ended before the step did",
    });
    run.finishStep(stepId, "failed", run.job.position);
  }
}
