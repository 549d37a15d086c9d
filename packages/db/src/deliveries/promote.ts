import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import { currentEpoch } from "./epoch.ts";

/**
 * Ends the wait of the first $2 tasks that are due: delivery_tasks_waiting has them in order, so that nothing due costs one probe,
 * however many wait. SKIP LOCKED: nodes do not wait for each other.
 */
const promote = statement<Record<never, never>>(
  "promote_deliveries",
  `with due as materialized (
    select t.subscription_id, t.due_at, t.delivery_id from delivery_tasks t
    where t.epoch = 0 and t.due_at <= $1::timestamptz order by t.due_at limit $2::int4 for update skip locked
  )
  update delivery_tasks t set epoch = ${currentEpoch} from due d
  where t.epoch = 0 and t.subscription_id = d.subscription_id and t.due_at = d.due_at and t.delivery_id = d.delivery_id`,
);

/** Puts up to `limit` waiting tasks that are due into their lanes; returns how many. */
export async function promoteDeliveries(db: Executor, nowMs: number, limit: number): Promise<number> {
  return (await promote(db, [isoTime(nowMs), limit])).count;
}
