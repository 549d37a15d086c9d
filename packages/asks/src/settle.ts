import type { AskRecord } from "@svc/db/asks/repo";
import { type JobUnderLock, settleAsk } from "@svc/db/asks/settle";
import type { Executor } from "@svc/db/connect";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { takeRunTask } from "@svc/db/job-tasks/lease";
import { deleteJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { askEvent } from "./ask-event.ts";
import type { AskContext } from "./context.ts";

/** A settlement that is tried: of a person, or, where the decision names none, of the clock. */
export type Settlement = {
  readonly job: JobUnderLock;
  readonly ask: Pick<AskRecord, "id" | "stepId" | "pointId">;
  /** As it is shown. */
  readonly decision: DecisionDocument;
  /** The overrides as they were answered, sealed, where the decision shows them masked. */
  readonly overrides?: Uint8Array | undefined;
};

/**
 * Settles an ask for a person and for the clock alike, in the transaction of the caller, who has locked the job. One conditional
 * update decides: of any number of settlements one finds the ask pending. The winner logs it, ends what was under way for the ask
 * and makes the job go on; for any other this answers false, and nothing is written.
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

/** Who caused a settlement, after those who caused the job: the key that presented the answer, and the contact it spoke for. */
function settlementChain(jobChain: readonly string[], { principalId, keyId }: DecisionDocument): string[] {
  if (principalId === "") return [...jobChain, "clock"];
  const key = `key:${keyId}`;
  return [...jobChain, ...(jobChain.at(-1) === key ? [] : [key]), `contact:${principalId}`];
}
