import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** From the old end of call_paces_expires. */
const sweepPaces = statement<{ key: string }>(
  "sweep_call_paces",
  `delete from call_paces p using (
     select project_id, limit_name, key from call_paces where expires_at < $1::timestamptz
     order by expires_at limit $2::int4 for update skip locked) old
   where p.project_id = old.project_id and p.limit_name = old.limit_name and p.key = old.key returning p.key`,
);

/** Removes up to `limit` paces that have expired; returns how many. */
export async function sweepCallPaces(db: Executor, nowMs: number, limit: number): Promise<number> {
  return (await sweepPaces(db, [isoTime(nowMs), limit])).length;
}
