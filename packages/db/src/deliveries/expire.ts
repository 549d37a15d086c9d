import { isoTime, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import { currentEpoch, liveEpochs } from "./epoch.ts";

/**
 * Ends a batch of pending deliveries of an inactive or deleted subscription. A delivery that is being sent keeps its lease (the right of
 * one node to send it). Its node then stores the result, so a success still counts. A later run of this statement ends the deliveries that
 * remain. Uses the key of delivery_tasks.
 */
const expire = statement<{ delivery_id: string }>(
  "expire_deliveries",
  `with picked as materialized (
    select t.epoch, t.subscription_id, t.due_at, t.delivery_id from delivery_tasks t
    where t.epoch = any${liveEpochs} and t.subscription_id = $1::uuid
      and (t.lease_until is null or t.lease_until <= $2::timestamptz)
      and not exists (select from subscriptions s where s.id = t.subscription_id and (s.active or s.inactive_reason = 'paused'))
    limit $3::int4 for update skip locked
  ), ended as (
    delete from delivery_tasks t using picked p
    where t.epoch = p.epoch and t.subscription_id = p.subscription_id and t.due_at = p.due_at and t.delivery_id = p.delivery_id
  )
  update deliveries d set state = 'dead_letter', next_attempt_at = null, last_error = 'subscription_inactive: the subscription was deactivated or deleted'
  from picked p where d.id = p.delivery_id
  returning d.id as delivery_id`,
);

/** Takes pending deliveries of a paused subscription out of the queue. The statement `unpark_deliveries` puts them back. */
const park = statement<{ delivery_id: string }>(
  "park_deliveries",
  // The lock on the subscription makes a resume wait for this statement. A delivery's due time stays in `deliveries`.
  `with paused as materialized (
    select s.id from subscriptions s where s.id = $1::uuid and s.inactive_reason = 'paused' for share
  ), picked as materialized (
    select t.epoch, t.subscription_id, t.due_at, t.delivery_id from delivery_tasks t
    where t.epoch = any${liveEpochs} and t.subscription_id = $1::uuid and t.due_at < 'infinity' and exists (select from paused)
      and (t.lease_until is null or t.lease_until <= $2::timestamptz)
    limit $3::int4 for update skip locked
  )
  update delivery_tasks t set epoch = 0, due_at = 'infinity', lease_owner = null, lease_until = null from picked p
  where t.epoch = p.epoch and t.subscription_id = p.subscription_id and t.due_at = p.due_at and t.delivery_id = p.delivery_id
  returning t.delivery_id`,
);

/**
 * Removes up to `limit` pending deliveries of a subscription from the queue. If the subscription has ended, they become `dead_letter` (given
 * up). If it is paused, they are parked (stored as waiting, without a due time). Returns the number of changed deliveries.
 */
export async function expireDeliveries(
  db: Executor,
  id: SubscriptionId,
  nowMs: number,
  limit: number,
): Promise<number> {
  const parameters = [uuidOfId(id), isoTime(nowMs), limit];
  const ended = await expire(db, parameters);
  return ended.length > 0 ? ended.length : (await park(db, parameters)).length;
}

/**
 * Puts parked deliveries of a subscription back into its queue, with the due times from `deliveries`. A delivery is parked while its
 * subscription is paused.
 */
const unpark = statement<{ delivery_id: string }>(
  "unpark_deliveries",
  // With 0 in place of `(select 0)`, PostgreSQL would read the parked deliveries of all subscriptions.
  `with picked as materialized (
    select t.delivery_id from delivery_tasks t
    where t.epoch = (select 0) and t.subscription_id = $1::uuid and t.due_at = 'infinity' order by t.delivery_id limit $3::int4 for update
  ), due as materialized (
    select p.delivery_id, coalesce(d.next_attempt_at, $2::timestamptz) as due_at from picked p
    cross join lateral (select next_attempt_at from deliveries where id = p.delivery_id offset 0) d
  )
  update delivery_tasks t set due_at = due.due_at, epoch = case when due.due_at > $2::timestamptz then 0 else ${currentEpoch} end
  from due where t.epoch = (select 0) and t.subscription_id = $1::uuid and t.due_at = 'infinity' and t.delivery_id = due.delivery_id
  returning t.delivery_id`,
);

/** Puts up to `limit` parked deliveries of a subscription back into its queue. Returns how many deliveries it put back. */
export async function unparkDeliveries(
  db: Executor,
  id: SubscriptionId,
  nowMs: number,
  limit: number,
): Promise<number> {
  return (await unpark(db, [uuidOfId(id), isoTime(nowMs), limit])).length;
}
