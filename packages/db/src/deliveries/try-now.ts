import { type DeliveryId, isoTime, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import { currentEpoch, liveEpochs, pacedFront } from "./epoch.ts";

/**
 * Makes tasks of an active subscription due now ($2): the task of one delivery, or at most $4 tasks of its queue. Tasks that a node is
 * working on do not change. Uses the index delivery_tasks_lane.
 */
const tryNow = statement<{ count: number }>(
  "try_deliveries_now",
  // A single delivery goes to the front of the queue, so that it becomes the test of a failing endpoint.
  // An early attempt replaces the planned one: the task's count of planned attempts is reduced by one. If the attempt fails, the next
  // waiting time is the same again.
  // From $5 attempts on, the count stays, because the delivery's row stores each attempt.
  // The statement also ends a pause that svc makes because the endpoint fails.
  `with open as materialized (
    select s.id from subscriptions s where s.id = $1::uuid and s.active
  ), picked as materialized (
    select t.epoch, t.subscription_id, t.due_at, t.delivery_id,
      case when $3::uuid is null then least(t.due_at, $2::timestamptz) else least($2::timestamptz, (
        select min(f.due_at) from delivery_tasks f
        where f.epoch = ${currentEpoch} and f.subscription_id = $1::uuid and f.due_at > ${pacedFront}
      ) - interval '1 millisecond') end as tried_at
    from delivery_tasks t
    where t.epoch = any${liveEpochs} and t.subscription_id = $1::uuid and exists (select from open)
      and ($3::uuid is null or t.delivery_id = $3::uuid)
      and (t.lease_until is null or t.lease_until <= $2::timestamptz)
    order by t.due_at limit $4::int4 for update skip locked
  ), moved as (
    update delivery_tasks t set epoch = ${currentEpoch}, due_at = p.tried_at,
      attempts = case
        when p.due_at > $2::timestamptz and (select d.attempts < $5::int4 from deliveries d where d.id = t.delivery_id)
        then greatest(t.attempts - 1, 0) else t.attempts end
    from picked p
    where t.epoch = p.epoch and t.subscription_id = p.subscription_id and t.due_at = p.due_at and t.delivery_id = p.delivery_id
    returning t.delivery_id, t.due_at
  ), changed as (
    update deliveries d set next_attempt_at = case when m.due_at > ${pacedFront} then m.due_at else $2::timestamptz end
    from moved m where d.id = m.delivery_id
  ), opened as (
    update subscriptions s set backoff_until = $2::timestamptz
    where s.id in (select id from open) and s.backoff_until > $2::timestamptz
  )
  select count(*)::int4 as count from moved`,
);

const triedMax = 20_000;

/**
 * Manual attempts do not count for the retry schedule until a delivery has this many attempts. svc stores every attempt, so their number
 * must have a limit.
 */
const freeAttemptsMax = 50;

/**
 * Makes one pending delivery of a subscription, or all of them, due at `nowMs`. Also ends the backoff of the subscription's endpoint.
 * Returns how many deliveries are now due.
 */
export async function tryDeliveriesNow(
  db: Executor,
  id: SubscriptionId,
  { deliveryId, nowMs }: { readonly deliveryId: DeliveryId | undefined; readonly nowMs: number },
): Promise<number> {
  const delivery = deliveryId === undefined ? null : uuidOfId(deliveryId);
  const [row] = await tryNow(db, [uuidOfId(id), isoTime(nowMs), delivery, triedMax, freeAttemptsMax]);
  return row?.count ?? 0;
}
