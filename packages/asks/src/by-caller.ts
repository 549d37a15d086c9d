import { type KeyId, parseId } from "@svc/core";
import { type AskRecord, type Executor, findGrantsOfKeys, findKeyById, type JobRecord } from "@svc/db";

type Confirmed = { readonly ask: Pick<AskRecord, "kind" | "keyId">; readonly job: Pick<JobRecord, "principalChain"> };

/** Whether a key is one that had a hand in the call which an ask confirms: then it may neither answer nor vouch for who does. */
export function isByCaller({ ask, job: { principalChain } }: Confirmed, keyId: KeyId): boolean {
  return ask.kind === "confirm" && (ask.keyId === keyId || principalChain.includes(`key:${keyId}`));
}

/**
 * The same, and whether the call was made by a grant that the key gave while a person is to confirm its own calls: an agent that holds such a
 * key could give itself a grant, call by it, and confirm as the key. A key without a rule is a person's, who confirms what their agents call.
 */
export async function isOwnConfirmation(db: Executor, confirmed: Confirmed, keyId: KeyId): Promise<boolean> {
  const { ask, job } = confirmed;
  if (ask.kind !== "confirm") return false;
  if (isByCaller(confirmed, keyId)) return true;
  const key = await findKeyById(db, keyId);
  if (key === undefined || key.confirm.person === "never") return false;
  const callers = job.principalChain.flatMap((one) => parseId("key", one.replace(/^key:/, "")) ?? []);
  const grants = await findGrantsOfKeys(db, [ask.keyId, ...callers]);
  return grants.some(({ voucherKeyId }) => voucherKeyId === keyId);
}
