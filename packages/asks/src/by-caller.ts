import { type KeyId, keysOfChain, parseId } from "@svc/core";
import { isOneHand } from "@svc/db/asks/read";
import { type AskRecord, listJobAsks } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import type { JobRecord } from "@svc/db/jobs/record";

/** An ask and the job that it is about. */
export type AskOfJob = {
  readonly ask: Pick<AskRecord, "kind" | "keyId" | "jobId">;
  readonly job: Pick<JobRecord, "principalChain">;
};

/**
 * True if a key is of one hand with a key that caused what a job does: the keys of the job and of its attempts, and those whose answers
 * changed what it sends.
 */
export async function isOfCauser(db: Executor, { ask, job }: AskOfJob, keyId: KeyId): Promise<boolean> {
  const asks = await listJobAsks(db, ask.jobId);
  const changed = asks.flatMap(({ decision }) =>
    decision?.overridesJson ? (parseId("key", decision.keyId) ?? []) : [],
  );
  const keyIds = [ask.keyId, ...keysOfChain(job.principalChain), ...changed];
  return isOneHand(db, { jobId: ask.jobId, keyIds }, keyId);
}

/** True if an ask confirms what the hand of a key caused: then the key may neither answer nor vouch for who does. */
export async function isOwnConfirmation(db: Executor, asked: AskOfJob, keyId: KeyId): Promise<boolean> {
  return asked.ask.kind === "confirm" && (await isOfCauser(db, asked, keyId));
}
