import type { Executor } from "../connect.ts";
import { type StatementParameter, statement } from "../sql/statement.ts";
import { type ClaimRow, endpointColumns, endpointOf, eventColumns, taskColumns } from "./claimed-delivery.ts";
import { epochOf, pacedFront, readyEpochs } from "./epoch.ts";

/** Row of a delivery that this node took from a subscription with a pace (a limit of how fast the subscription receives deliveries). */
type PacedRow = ClaimRow & {
  /**
   * Time from which the subscription's pace (its limit of deliveries per time) lets the next delivery start, in microseconds since 1970.
   */
  paced_at: string;
};

/**
 * Maximum lateness of a delivery, in microseconds, that the next deliveries may catch up. The subscription can then briefly exceed its
 * limit of deliveries per time.
 */
const lateMaxUs = 50_000;

const epoch = epochOf("$10::bool");
const nowUs = "(extract(epoch from $5::timestamptz) * 1000000)::int8";
const pace = (field: string) => `(s.settings -> 'pace' ->> '${field}')::int8`;

/**
 * Claims due deliveries like `claim_deliveries`, from the queues in $1 that have a pace (limit on attempts). Takes only as many deliveries
 * as the pace lets start now.
 */
const claim = statement<PacedRow>(
  // Rate: the generic cell rate algorithm (GCRA). `at` in subscription_paces is the time from which the next delivery may start. Each
  // claimed delivery moves `at` forward by `step`, the time between two deliveries.
  // Concurrency: claimed tasks move to the front of the queue, so that the statement counts running attempts without reading other tasks.
  // Nodes never wait for each other: `locked` locks the rows of subscription_paces, and skips rows that another claim has locked.
  // Every claim changes the rows that it uses. If `fresh` finds a row changed after this statement began, another claim was committed, and
  // this statement cannot see the tasks of that claim. The statement then skips the queue. So the limits hold over all nodes.
  "claim_paced_deliveries",
  `with locked as materialized (
    select p.subscription_id, p.at, p.ctid as version from subscription_paces p
    where p.subscription_id = any($1::uuid[]) order by p.subscription_id for no key update skip locked
  ), fresh as materialized (
    select l.subscription_id, l.at from locked l cross join lateral (
      select p.ctid as version from subscription_paces p where p.subscription_id = l.subscription_id offset 0) p
    where p.version = l.version
  ), probeable as materialized (
    select s.id from subscriptions s
    where s.id = any(array(select subscription_id from fresh)) and s.active
      and s.failing_since is not null and s.backoff_until <= $5::timestamptz and s.project_id <> all($9::uuid[])
    for no key update skip locked
  ), open as materialized (
    select s.id, s.project_id, ${endpointOf("s")}, s.failing_since is not null as probe, s.kind = 'asks' as asks, k.step, k.base,
      greatest(0, least(coalesce(r.room, $2::int4), case when s.failing_since is null then $2::int4 else 1 end, k.concurrency - (
          select count(*) from delivery_tasks t
          where k.concurrency is not null and t.epoch = any${readyEpochs} and t.subscription_id = s.id and t.due_at = ${pacedFront}
            and t.lease_until > $5::timestamptz),
        case when k.step is null then null when k.base > k.now then 0 else (k.now - k.base) / k.step + 1 end)) as share
    from fresh f cross join lateral (select * from subscriptions where id = f.subscription_id offset 0) s
      left join unnest($3::uuid[], $4::int4[]) as r(id, room) on r.id = s.id
      cross join lateral (select ${nowUs} as now, greatest(f.at, ${nowUs} - ${lateMaxUs}) as base,
        (${pace("perMs")} * 1000 + ${pace("max")} - 1) / ${pace("max")} as step, ${pace("concurrency")} as concurrency) k
    where s.active and s.project_id <> all($9::uuid[]) and (s.failing_since is null or s.id in (select p.id from probeable p))
    order by s.id
  ), picked as materialized (
    select p.delivery_id, p.due_at, o.id as subscription_id, ${endpointOf("o")}, o.probe, o.asks, o.base, o.step
    from open o cross join lateral (
      select t.delivery_id, t.due_at from delivery_tasks t
      where t.epoch = ${epoch} and t.subscription_id = o.id and t.due_at <= $5::timestamptz
        and (t.lease_until is null or t.lease_until <= $5::timestamptz)
      order by t.due_at, t.delivery_id limit o.share for update skip locked) p
    limit $6::int4
  ), probing as (
    update subscriptions s set backoff_until = $7::timestamptz
    where s.id in (select subscription_id from picked where probe)
  ), moved as (
    update subscription_paces p set at = coalesce(k.base + k.step * k.taken, ${nowUs})
    from (select subscription_id, base, step, count(*) as taken from picked group by subscription_id, base, step) k
    where p.subscription_id = k.subscription_id
    returning p.subscription_id, p.at
  ), claimed as (
    update delivery_tasks t set lease_owner = $8::uuid, lease_until = $7::timestamptz, due_at = ${pacedFront}
    from picked p
    where t.epoch = ${epoch} and t.subscription_id = p.subscription_id and t.due_at = p.due_at and t.delivery_id = p.delivery_id
    returning t.delivery_id, t.project_id, t.subscription_id, t.event_id, t.due_at, t.attempts, ${endpointOf("p")}, p.probe, p.asks
  )
  select ${taskColumns.text}, ${eventColumns.text}, ${endpointColumns.text}, c.probe, m.at as paced_at,
    case when c.asks and e.kind = 'event' then 'notice' else e.kind end as kind
  from claimed c join moved m on m.subscription_id = c.subscription_id join events e on e.project_id = c.project_id and e.id = c.event_id
  order by c.delivery_id`,
);

/**
 * Claims due deliveries from queues of subscriptions with a pace (a limit of deliveries per time or at the same time). `parameters`: the
 * same parameters as those of the statement `claim_deliveries`.
 */
export function claimPacedDeliveries(db: Executor, parameters: readonly StatementParameter[]): Promise<PacedRow[]> {
  return claim(db, parameters);
}

/** Converts a time in milliseconds since 1970 to microseconds since 1970. */
export function microsecondsOf(ms: number): number {
  return ms * 1_000;
}
