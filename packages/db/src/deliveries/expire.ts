import { isoTime, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import { liveEpochs } from "./epoch.ts";

/**
 * Ends a batch of pending deliveries, waiting or due, of an inactive or deleted subscription. A task in flight keeps its lease, and its
 * owner stores its result (a success still counts). A later run ends the deliveries that remain. Uses the key of tasks.
 */
const expire = statement<{ delivery_id: string }>(
  "expire_deliveries",
  `with picked as materialized (
    select t.epoch, t.subscription_id, t.due_at, t.delivery_id from delivery_tasks t
    where t.epoch = any${liveEpochs} and t.subscription_id = $1::uuid
      and (t.lease_until is null or t.lease_until <= $2::timestamptz)
      and not exists (select from subscriptions s where s.id = t.subscription_id and s.active)
    limit $3::int4 for update skip locked
  ), ended as (
    delete from delivery_tasks t using picked p
    where t.epoch = p.epoch and t.subscription_id = p.subscription_id and t.due_at = p.due_at and t.delivery_id = p.delivery_id
  )
  update deliveries d set state = 'dead_letter', next_attempt_at = null, last_error = 'subscription_inactive: the subscription was deactivated or deleted'
  from picked p where d.id = p.delivery_id
  returning d.id as delivery_id`,
);

/** Ends up to `limit` pending deliveries of an ended subscription as `dead_letter`; returns how many. */
export async function expireDeliveries(
  db: Executor,
  id: SubscriptionId,
  nowMs: number,
  limit: number,
): Promise<number> {
  return (await expire(db, [uuidOfId(id), isoTime(nowMs), limit])).length;
}
