import type { AskRecord } from "@svc/db/asks/repo";
import { type LockedJobRow, settleAsk } from "@svc/db/asks/settle";
import type { Executor } from "@svc/db/connect";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { takeRunTask } from "@svc/db/job-tasks/lease";
import { deleteJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { askEvent } from "./ask-event.ts";
import type { AskContext } from "./context.ts";

/** An attempt to settle an ask. A person settles it, or its time has expired; then the decision names no person. */
export type Settlement = {
  readonly job: LockedJobRow;
  readonly ask: Pick<AskRecord, "id" | "stepId" | "pointId">;
  /** The decision as callers see it. */
  readonly decision: DecisionDocument;
  /** The overrides of the answer, sealed. Present if the decision shows them masked. */
  readonly overrides?: Uint8Array | undefined;
};

/**
 * Settles an ask in the caller's transaction, which holds the job's lock. Of several concurrent settlements, exactly one finds the ask
 * pending, because one conditional update decides. That settlement logs the decision, ends the ask's open tasks and continues the job; it
 * returns true. Every other settlement returns false and writes nothing.
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

/** Returns the causes of a settlement: the causes of the job, then the key that sent the answer, and its contact. */
function settlementChain(jobChain: readonly string[], { principalId, keyId }: DecisionDocument): string[] {
  if (principalId === "") return [...jobChain, "clock"];
  const key = `key:${keyId}`;
  return [...jobChain, ...(jobChain.at(-1) === key ? [] : [key]), `contact:${principalId}`];
}
