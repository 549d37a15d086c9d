import { type Id, isoTime, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const passOn = statement<{ id: string }>(
  "pass_ask_on",
  `update job_asks set hop_index = $2::int4 + 1, principal_id = $3::text, deadline_at = $4::timestamptz,
     delivered_principals = case when $3::text = any(delivered_principals) then delivered_principals
       else delivered_principals || $3::text end,
     tool_slug = '', entity_id = '', tool_call_id = '', delivered_at = null
   where id = $1::uuid and state = 'pending' and hop_index = $2::int4 returning id`,
);

/** Passes a pending ask on from a hop to the next; false when it is not there any more. */
export async function passAskOn(
  tx: Executor,
  id: Id<"ask">,
  { fromHop, principalId, deadlineAt }: { fromHop: number; principalId: string; deadlineAt: number | null },
): Promise<boolean> {
  const deadline = deadlineAt === null ? null : isoTime(deadlineAt);
  return (await passOn(tx, [uuidOfId(id), fromHop, principalId, deadline])).length > 0;
}
