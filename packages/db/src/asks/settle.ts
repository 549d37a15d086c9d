import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type AskDecisionDocument, askDecisionDocument } from "../documents/decision.ts";
import { statement } from "../sql/statement.ts";

/** Of any number of settlements one finds the ask pending: by primary key, whoever holds what lock. */
const settlePending = statement<{ id: string }>(
  "settle_ask",
  `update job_asks set state = $2::text, decision = $3::jsonb, overrides = $4::bytea, deadline_at = null
   where id = $1::uuid and state = 'pending' returning id`,
);

/** Settles a pending ask, or withdraws it; false when somebody was earlier, and then nothing is written. */
export async function settleAsk(
  tx: Executor,
  id: Id<"ask">,
  end: /** `overrides`: as they were answered, sealed, where the decision has them masked. */
    | { state: "answered" | "defaulted"; decision: AskDecisionDocument; overrides?: Uint8Array | undefined }
    | { state: "withdrawn"; decision?: undefined; overrides?: undefined },
): Promise<boolean> {
  const decision = end.decision === undefined ? null : askDecisionDocument.write(end.decision);
  return (await settlePending(tx, [uuidOfId(id), end.state, decision, end.overrides ?? null])).length > 0;
}
