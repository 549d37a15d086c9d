import { idOfUuid, isoTime, type NodeId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral, type StatementParameter, statement } from "../sql/statement.ts";
import { claimPacedDeliveries, microsecondsOf } from "./claim-paced.ts";
import {
  type ClaimRow,
  claimedDelivery,
  endpointColumns,
  endpointOf,
  eventColumns,
  type LeasedDelivery,
  taskColumns,
} from "./claimed-delivery.ts";
import { epochOf } from "./epoch.ts";
import { promoteDeliveries, type ScannedQueue, scanQueues } from "./queue.ts";

/** Options of `claimDeliveries`. */
export type DeliveryClaimRequest = {
  owner: NodeId;
  nowMs: number;
  leaseUntilMs: number;
  /** Maximum deliveries that one claim returns. */
  limit: number;
  /** Maximum deliveries that one claim returns per subscription. For a subscription in `slots`, the number in `slots` applies instead. */
  share: number;
  /**
   * For each subscription to which this node is sending now: the number of further deliveries that this node can send to it at the same
   * time.
   */
  slots: ReadonlyMap<SubscriptionId, number>;
  /** Projects that get no deliveries, because they already use their share of this node. */
  fullProjects: ReadonlySet<ProjectId>;
  /**
   * Subscription id after which the query begins to look for due deliveries. The query scans the delivery queues in the order of
   * subscription ids. For fairness, the caller passes a different starting point at each query.
   */
  after: SubscriptionId | undefined;
  /** Maximum number of delivery queues that one claim scans. Each subscription has one queue. */
  queuesMax: number;
  /** True to claim low-priority tasks of throttled replays. The caller claims these tasks last. */
  lowPriority: boolean;
};

/**
 * Result of a claim (a node takes due deliveries). It contains the deliveries that are now reserved for this node, and the data that the
 * caller needs for its next claim.
 */
export type DeliveryClaim = {
  deliveries: LeasedDelivery[];
  /** Subscription after which the next claim continues; undefined if the last queue was scanned. */
  next: SubscriptionId | undefined;
  /** Subscriptions that have tasks but are inactive or deleted. The caller must expire these tasks. */
  ended: SubscriptionId[];
  /** True if throttled replays (repeated deliveries that are spread over time) have queued deliveries. */
  hasLowPriority: boolean;
  /**
   * For each subscription whose pace (its limit of deliveries per time) lets no delivery start now: the time from which the next one may
   * start. In epoch milliseconds.
   */
  paced: ReadonlyMap<SubscriptionId, number>;
};

const epoch = epochOf("$10::bool");

/**
 * Claims due deliveries from the queues in $1, with a maximum number for each subscription. If a subscription's endpoint fails, claims at
 * most one delivery, which tests the endpoint.
 */
const claim = statement<ClaimRow>(
  "claim_deliveries",
  // Each queue is read from its oldest task, up to its share. So 100,000 tasks of a dead endpoint cost no more than one task.
  // `probeable` locks the subscription's row. `probing` moves the end of its backoff. So two claims at the same moment send only one test.
  // `skip locked`: nodes never wait for each other. A task with an expired lease is claimed like a free task. The old owner of the lease
  // can no longer store a result, because this needs the owner and the lease.
  `with probeable as materialized (
    select s.id from subscriptions s
    where s.id = any($1::uuid[]) and s.active
      and s.failing_since is not null and s.backoff_until <= $5::timestamptz and s.project_id <> all($9::uuid[])
    for no key update skip locked
  ), open as (
    select s.id, s.project_id, ${endpointOf("s")}, s.failing_since is not null as probe, s.kind = 'asks' as asks,
      least(coalesce(r.room, $2::int4), case when s.failing_since is null then $2::int4 else 1 end) as share
    from subscriptions s left join unnest($3::uuid[], $4::int4[]) as r(id, room) on r.id = s.id
    where s.id = any($1::uuid[]) and s.active and s.project_id <> all($9::uuid[])
      and (s.failing_since is null or s.id in (select p.id from probeable p))
    order by s.id
  ), picked as materialized (
    select p.delivery_id, p.due_at, o.id as subscription_id, ${endpointOf("o")}, o.probe, o.asks
    from open o cross join lateral (
      select t.delivery_id, t.due_at from delivery_tasks t
      where t.epoch = ${epoch} and t.subscription_id = o.id and t.due_at <= $5::timestamptz
        and (t.lease_until is null or t.lease_until <= $5::timestamptz)
      order by t.due_at, t.delivery_id limit o.share for update skip locked) p
    limit $6::int4
  ), probing as (
    update subscriptions s set backoff_until = $7::timestamptz
    where s.id in (select subscription_id from picked where probe)
  ), claimed as (
    update delivery_tasks t set lease_owner = $8::uuid, lease_until = $7::timestamptz
    from picked p
    where t.epoch = ${epoch} and t.subscription_id = p.subscription_id and t.due_at = p.due_at and t.delivery_id = p.delivery_id
    returning t.delivery_id, t.project_id, t.subscription_id, t.event_id, t.due_at, t.attempts, ${endpointOf("p")}, p.probe, p.asks
  )
  select ${taskColumns.text}, ${eventColumns.text}, ${endpointColumns.text}, c.probe,
    case when c.asks and e.kind = 'event' then 'notice' else e.kind end as kind
  from claimed c join events e on e.project_id = c.project_id and e.id = c.event_id
  order by c.delivery_id`,
);

const zeroUuid = "00000000-0000-0000-0000-000000000000";

/** Maximum number of delivery tasks that one claim moves back into their queues, because their wait for a retry has ended. */
const promotedMax = 2_000;

/**
 * Claims due deliveries for one node, so that no other node sends them. It begins with the subscription after `request.after`, so that
 * repeated claims reach all subscriptions.
 */
export async function claimDeliveries(db: Executor, request: DeliveryClaimRequest): Promise<DeliveryClaim> {
  const after = request.after === undefined ? zeroUuid : uuidOfId(request.after);
  const { lowPriority, nowMs } = request;
  const visit = { after, most: request.queuesMax, lowPriority, nowMs };
  const before = await scanQueues(db, visit);
  // Each round through all queues moves the tasks whose wait for a retry has ended only once, at its beginning.
  const endsWaits = before.hasDue && request.after === undefined && !lowPriority;
  // `hasNews`: true if waiting tasks became due and were moved. Usually none is due, and the claim skips this statement.
  const hasNews = endsWaits && (await promoteDeliveries(db, nowMs, promotedMax)) > 0;
  const { queues, hasLowPriority } = hasNews ? await scanQueues(db, visit) : before;
  const open = queues.filter((queue) => !queue.ended);
  const paced = await claimPaced(db, open, request);
  const { rows, isCut } = await claimUnpaced(db, open, { ...request, limit: request.limit - paced.rows.length });
  // Queues are served in order. If the limit stopped this claim in a queue, the next claim continues at the same queue.
  const reached = isCut ? lastOf(rows.map((row) => String(row.subscriptionId))) : queues.at(-1)?.subscriptionId;
  // If paced queues used the limit up, the next claim begins where this one began.
  const last = isCut && rows.length === 0 && request.after !== undefined ? after : reached;
  const isWhole = queues.length < request.queuesMax && !isCut;
  return {
    deliveries: [...rows, ...paced.rows].map((row) => claimedDelivery(row, request)),
    next: isWhole || last === undefined ? undefined : idOfUuid("sub", last),
    ended: queues.filter((queue) => queue.ended).map((queue) => idOfUuid("sub", queue.subscriptionId)),
    hasLowPriority,
    paced: paced.opensAt,
  };
}

/**
 * Claims deliveries of subscriptions that have no pace (limit on deliveries). `isCut`: true if the claim reached its limit, so that more
 * deliveries may be due.
 */
async function claimUnpaced(
  db: Executor,
  queues: readonly ScannedQueue[],
  request: DeliveryClaimRequest,
): Promise<{ readonly rows: readonly ClaimRow[]; readonly isCut: boolean }> {
  const unpaced = queues.filter(({ pacedAt }) => pacedAt === undefined).map(({ subscriptionId }) => subscriptionId);
  const rows = unpaced.length === 0 ? [] : await claimOf(db, unpaced, request);
  return { rows, isCut: unpaced.length > 0 && rows.length >= request.limit };
}

/**
 * Claims deliveries from the queues whose subscription has a pace, which limits its deliveries. Uses at most half of `request.limit`; the
 * rest is for the other queues. `opensAt`: the next time, in epoch milliseconds, at which the pace of a queue allows a delivery.
 */
async function claimPaced(db: Executor, queues: readonly ScannedQueue[], request: DeliveryClaimRequest) {
  const nowUs = microsecondsOf(request.nowMs);
  const opensAt = new Map<SubscriptionId, number>();
  const noteOpening = (uuid: string, atUs: number) => {
    if (atUs > nowUs) opensAt.set(idOfUuid("sub", uuid), Math.ceil(atUs / 1_000));
  };
  const free: string[] = [];
  for (const { subscriptionId, pacedAt } of queues) {
    if (pacedAt === undefined) continue;
    noteOpening(subscriptionId, pacedAt);
    if (pacedAt <= nowUs) free.push(subscriptionId);
  }
  if (free.length === 0) return { rows: [], opensAt };
  // A limit of 1 goes to both kinds of queues in turn.
  const hasUnpaced = queues.some(({ pacedAt }) => pacedAt === undefined);
  const limit = request.limit === 1 && hasUnpaced ? request.nowMs % 2 : Math.ceil(request.limit / 2);
  if (limit === 0) return { rows: [], opensAt };
  const rows = await claimPacedDeliveries(db, parametersOf(free, { ...request, limit }));
  for (const { subscriptionId, paced_at: pacedAt } of rows) noteOpening(String(subscriptionId), Number(pacedAt));
  return { rows, opensAt };
}

function claimOf(db: Executor, queues: readonly string[], request: DeliveryClaimRequest): Promise<ClaimRow[]> {
  return claim(db, parametersOf(queues, request));
}

/** Returns the parameters of the SQL statements that claim deliveries. */
function parametersOf(queues: readonly string[], request: DeliveryClaimRequest): readonly StatementParameter[] {
  return [
    arrayLiteral(queues),
    request.share,
    arrayLiteral([...request.slots.keys()].map(uuidOfId)),
    arrayLiteral([...request.slots.values()].map(String)),
    isoTime(request.nowMs),
    request.limit,
    isoTime(request.leaseUntilMs),
    uuidOfId(request.owner),
    arrayLiteral([...request.fullProjects].map(uuidOfId)),
    request.lowPriority,
  ];
}

/** Returns the greatest UUID; undefined if there are none. UUIDs sort like their texts. */
function lastOf(uuids: readonly string[]): string | undefined {
  return uuids.reduce<string | undefined>((last, uuid) => (last === undefined || uuid > last ? uuid : last), undefined);
}
