import { isoTime, type NodeId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { idOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { type DeliveryTaskKey, isHeldBy, taskKeyFields } from "./enqueue.ts";
import { currentEpoch, epochOf, lowPriorityEpoch } from "./epoch.ts";

/**
 * Moves at most $2 tasks whose wait for a retry has ended into their queues. delivery_tasks_waiting has the waiting tasks in order of due
 * time. So if no task is due, the statement costs one index lookup, however many tasks wait. SKIP LOCKED: nodes do not wait for each other.
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

/**
 * Makes tasks ready to be sent: moves up to `limit` tasks whose retry is due into the queues of their subscriptions. Returns the number of
 * moved tasks.
 */
export async function promoteDeliveries(db: Executor, nowMs: number, limit: number): Promise<number> {
  return (await promote(db, [isoTime(nowMs), limit])).count;
}

/**
 * Releases unused leases (time-limited rights of one node to work on a task). Ignores a task that `owner` no longer holds under the same
 * lease. Uses the primary key, and is a HOT update (no index changes).
 */
const release = compose(
  "release_deliveries",
  { tasks: rows(taskKeyFields), by: values({ owner: idOf("node") }) },
  ({ tasks, by }) => query`
    update delivery_tasks t set lease_owner = null, lease_until = null from ${tasks.from("i")} where ${isHeldBy(by.owner)}`,
);

/** Releases the leases (a node's time-limited rights) of `tasks`, so that any node may claim them at once. */
export async function releaseDeliveries(db: Executor, owner: NodeId, tasks: readonly DeliveryTaskKey[]): Promise<void> {
  if (tasks.length > 0) await release(db, { tasks, by: { owner } });
}

const epoch = epochOf("$3::bool");

/** Returns up to $2 subscriptions that have delivery tasks, with ids above $1. Tasks that wait for a retry do not count. */
const visit = statement<{
  subscription_id: string | null;
  /** True if the subscription is inactive or deleted. */
  ended: boolean | null;
  /**
   * Null in the row of a subscription. Up to two more rows have no subscription. `behind`: low-priority tasks exist. `due`: some tasks have
   * waited long enough for their retry.
   */
  says: "behind" | "due" | null;
  /** Time from which the next delivery may start, in microseconds since 1970. Null if the subscription has no rate limit. */
  paced_at: string | null;
}>(
  "visit_lanes",
  // $3: true to read low-priority tasks instead of the others. $4: the present time.
  `with recursive visited as (
    (select t.subscription_id, 1 as hop from delivery_tasks t
     where t.epoch = ${epoch} and t.subscription_id > $1::uuid order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.epoch = ${epoch} and t.subscription_id > v.subscription_id order by t.subscription_id limit 1), v.hop + 1
    from visited v where v.subscription_id is not null and v.hop < $2::int4
  )
  select v.subscription_id, s.id is null or not s.active as ended, null as says,
    case when s.settings ? 'pace' then (select p.at from subscription_paces p where p.subscription_id = s.id) end as paced_at
  from visited v left join subscriptions s on s.id = v.subscription_id
  where v.subscription_id is not null
  union all
  select null, null, 'behind', null where exists (select from delivery_tasks t where t.epoch = ${lowPriorityEpoch} limit 1)
  union all
  select null, null, 'due', null where exists (
    select from delivery_tasks t where t.epoch = 0 and t.due_at <= $4::timestamptz order by t.due_at limit 1)
  order by subscription_id`,
);

/**
 * A subscription that has tasks. `ended`: true if the subscription is inactive or deleted. `pacedAt`: if the subscription has a pace (a
 * limit of deliveries per time), the time from which the next delivery may start, in microseconds since 1970.
 */
export type ScannedQueue = {
  readonly subscriptionId: string;
  readonly ended: boolean;
  readonly pacedAt: number | undefined;
};

/** Queues to scan: at most `most` queues, beginning after a subscription's UUID. */
type QueueScan = {
  readonly after: string;
  readonly most: number;
  readonly lowPriority: boolean;
  readonly nowMs: number;
};

/** Result of a scan. `hasLowPriority`: true if throttled replays have queued deliveries. `hasDue`: true if waiting tasks are due. */
type QueueScanResult = { readonly queues: ScannedQueue[]; readonly hasLowPriority: boolean; readonly hasDue: boolean };

/** Returns the delivery queues that have tasks, one for each subscription, in the order of the subscriptions' ids. */
export async function scanQueues(
  db: Executor,
  { after, most, lowPriority, nowMs }: QueueScan,
): Promise<QueueScanResult> {
  const rows = await visit(db, [after, most, lowPriority, isoTime(nowMs)]);
  const queues = rows.flatMap(({ subscription_id: subscriptionId, ended, paced_at: at }) =>
    subscriptionId === null
      ? []
      : [{ subscriptionId, ended: ended === true, pacedAt: at === null ? undefined : Number(at) }],
  );
  const isSaid = (what: "behind" | "due") => rows.some(({ says }) => says === what);
  return { queues, hasLowPriority: isSaid("behind"), hasDue: isSaid("due") };
}
