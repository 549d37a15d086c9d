import type { KeyId } from "@svc/core";
import type { AskRecord, JobRecord } from "@svc/db";

/** Whether a key is one that had a hand in the call which an ask confirms: then it may neither answer nor vouch for who does. */
export function isByCaller(
  ask: Pick<AskRecord, "kind" | "keyId">,
  { principalChain }: Pick<JobRecord, "principalChain">,
  keyId: KeyId,
): boolean {
  return ask.kind === "confirm" && (ask.keyId === keyId || principalChain.includes(`key:${keyId}`));
}
