import type { AskRecord } from "@svc/db/asks/repo";
import { type LockedJobRow, settleAsk } from "@svc/db/asks/settle";
import type { Executor } from "@svc/db/connect";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { takeRunTask } from "@svc/db/job-tasks/lease";
import { deleteJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { askEvent } from "./ask-event.ts";
import type { AskContext } from "./context.ts";

/**
 * A decision that the caller wants to store for an ask (a question to a person). If a person decided, the decision contains the person's
 * id. If the deadline passed without an answer, that id is empty.
 */
export type Settlement = {
  readonly job: LockedJobRow;
  readonly ask: Pick<AskRecord, "id" | "stepId" | "pointId">;
  /** The decision as callers see it, with sensitive values as `***`. */
  readonly decision: DecisionDocument;
  /**
   * The complete changes of arguments (overrides) that the person's answer contains, encrypted. Present only if `decision` shows some of
   * these values as `***`.
   */
  readonly overrides?: Uint8Array | undefined;
};

/**
 * Stores the decision of an ask (a question to a person) in the caller's transaction, which holds the job's lock. If the ask was pending,
 * logs the decision, deletes the ask's open tasks, lets the job continue, and returns true. If the ask already had a decision, writes
 * nothing and returns false.
 */
export async function settle(
  context: AskContext,
  tx: Executor,
  { job, ask, decision, overrides }: Settlement,
): Promise<boolean> {
  const byClock = decision.principalId === "";
  const chain = settlementChain(job.principalChain, decision);
  const end = { state: byClock ? "defaulted" : "answered", decision: { ...decision, chain }, overrides } as const;
  if (!(await settleAsk(tx, ask.id, end))) return false;
  await deleteJobTasks(tx, { jobId: job.id, kinds: ["hop", "reach"], subject: ask.id });
  const { continuation, surface, at } = decision;
  const by = byClock ? "clock" : `contact:${decision.principalId}`;
  await appendJobEvents(tx, job.id, [askEvent("ask-settled", ask, { by, continuation, surface }, chain)], at);
  if (context.moveJob !== undefined) await context.moveJob(tx, job.id);
  else await takeRunTask(tx, { jobId: job.id, projectId: job.projectId, dueAt: at });
  return true;
}

/**
 * Returns who caused the decision about a job's question, in order: first the keys and programs that caused the job, then the API key that
 * sent the answer, then the person who answered.
 */
function settlementChain(jobChain: readonly string[], { principalId, keyId }: DecisionDocument): string[] {
  if (principalId === "") return [...jobChain, "clock"];
  const key = `key:${keyId}`;
  return [...jobChain, ...(jobChain.at(-1) === key ? [] : [key]), `contact:${principalId}`];
}
