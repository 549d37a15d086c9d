import type { AskRecord } from "@svc/db/asks/repo";
import { type LockedJobRow, settleAsk } from "@svc/db/asks/settle";
import type { Executor } from "@svc/db/connect";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { takeRunTask } from "@svc/db/job-tasks/lease";
import { deleteJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { askEvent } from "./ask-event.ts";
import type { AskContext } from "./context.ts";

/** An attempt to settle an ask: by a person, or by the clock if the decision names no person. */
export type Settlement = {
  readonly job: LockedJobRow;
  readonly ask: Pick<AskRecord, "id" | "stepId" | "pointId">;
  /** The decision as callers see it. */
  readonly decision: DecisionDocument;
  /** The answered overrides, sealed. Present if the decision shows them masked. */
  readonly overrides?: Uint8Array | undefined;
};

/**
 * Settles an ask for a person or for the clock, in the caller's transaction, which holds the job's lock. One conditional update decides, so
 * exactly one of several settlements finds the ask pending. It logs the decision, ends the ask's open tasks and continues the job. Returns
 * false for every other settlement, and writes nothing.
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

/** Returns the causes of a settlement: those of the job, then the key that presented the answer and its contact. */
function settlementChain(jobChain: readonly string[], { principalId, keyId }: DecisionDocument): string[] {
  if (principalId === "") return [...jobChain, "clock"];
  const key = `key:${keyId}`;
  return [...jobChain, ...(jobChain.at(-1) === key ? [] : [key]), `contact:${principalId}`];
}
