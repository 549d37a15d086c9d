import { type Id, isoTime, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** Of several that were reached for one question, the row tells of the one who holds it. By primary key. */
const noteReached = statement<{ id: string }>(
  "note_ask_reached",
  `update job_asks set tool_slug = $3::text, entity_id = $4::text, tool_call_id = $5::text, delivered_at = $6::timestamptz
   where id = $1::uuid and (principal_id = $2::text or (tool_call_id = '' and $2::text = any(delivered_principals)
     and hop_index = $7::int4)) returning id`,
);

/** A call that told a contact of an ask. */
export type AskReached = {
  readonly principalId: string;
  readonly hopIndex: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly toolCallId: string;
  readonly deliveredAt: number;
};

/** Notes how a contact was told of an ask. */
export async function noteAskReached(tx: Executor, id: Id<"ask">, reached: AskReached): Promise<void> {
  const { principalId, toolSlug, entityId, toolCallId, deliveredAt, hopIndex } = reached;
  await noteReached(tx, [uuidOfId(id), principalId, toolSlug, entityId, toolCallId, isoTime(deliveredAt), hopIndex]);
}
