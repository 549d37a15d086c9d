import {
  type DeliveryId,
  type EventId,
  idOfUuid,
  type NodeId,
  type ProjectId,
  type SubscriptionId,
  uuidOfId,
} from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/** A pending delivery that this node now holds, with all that sending it needs. */
export type ClaimedDelivery = {
  id: DeliveryId;
  projectId: ProjectId;
  subscriptionId: SubscriptionId;
  /** Attempts made before. */
  attempts: number;
  /** When it was due; part of the task's key. */
  queuedForMs: number;
  /** Until when this node holds it; names this lease among others of the same node. */
  leaseUntilMs: number;
  endpointUrl: string;
  /** Sealed; see the column. */
  signingSecret: Buffer;
  /** True when the endpoint is backing off and this delivery is its probe. */
  probe: boolean;
  event: {
    id: EventId;
    kind: "event" | "test" | "ask";
    toolkitSlug: string;
    triggerSlug: string;
    entityId: string;
    payload: string;
    occurredAtMs: number;
    receivedAtMs: number;
  };
};

/** What `claim` takes. */
export type ClaimRequest = {
  owner: NodeId;
  nowMs: number;
  leaseUntilMs: number;
  /** Deliveries at most. */
  limit: number;
  /** Deliveries at most for one subscription, where `rooms` says nothing else. */
  share: number;
  /** What this node can still take for the subscriptions it is busy with. */
  rooms: ReadonlyMap<SubscriptionId, number>;
  /** Projects that get nothing: they use their share of this node. */
  fullProjects: ReadonlySet<ProjectId>;
  /** Lanes are visited in the order of subscription ids, from after this one: the caller rotates it for fairness. */
  after: SubscriptionId | undefined;
  /** Lanes visited at most. */
  lanes: number;
};

/** What `claim` found. */
export type ClaimResult = {
  deliveries: ClaimedDelivery[];
  /** Where to go on; undefined when the last lane was visited. */
  next: SubscriptionId | undefined;
  /** Subscriptions that have tasks but are inactive or gone: their tasks are to be expired. */
  ended: SubscriptionId[];
};

type ClaimRow = {
  id: string;
  project_id: string;
  subscription_id: string;
  attempts: number;
  queued_for_ms: number;
  endpoint_url: string;
  signing_secret: Buffer;
  probe: boolean;
  event_id: string;
  kind: "event" | "test" | "ask";
  toolkit_slug: string;
  trigger_slug: string;
  entity_id: string;
  payload: string;
  occurred_ms: number;
  received_ms: number;
};

/**
 * Claims due deliveries, a share a subscription.
 *
 * - `lanes` hops over delivery_tasks_lane from one subscription to the next (a loose index scan: one probe a lane), so
 *   100,000 tasks of a dead endpoint cost one hop, where a plain scan by due_at would read them all each time.
 * - A failing subscription gives one delivery (the probe) once its backoff has passed; `probing` moves the backoff past
 *   the probe's lease, so that no second one goes out meanwhile. `probeable` locks the row for it, and so sees the
 *   backoff that another node has just moved: two looks at the same moment send one probe.
 * - SKIP LOCKED: nodes never wait for each other. A lease that ran out is claimed like a free task; its old owner can
 *   no longer settle it, since every settlement names the owner and the lease.
 */
const claimDeliveries = statement<ClaimRow>(
  "claim_deliveries",
  `with recursive visited as (
    (select t.subscription_id, 1 as hop from delivery_tasks t
     where t.subscription_id > $1::uuid order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.subscription_id > v.subscription_id order by t.subscription_id limit 1), v.hop + 1
    from visited v where v.subscription_id is not null and v.hop < $2::int4
  ), probeable as materialized (
    select s.id from subscriptions s
    where s.id = any(array(select v.subscription_id from visited v)) and s.active
      and s.failing_since is not null and s.backoff_until <= $6::timestamptz and s.project_id <> all($10::uuid[])
    for no key update skip locked
  ), open as (
    select s.id, s.project_id, s.endpoint_url, s.signing_secret, s.failing_since is not null as probe,
      least(coalesce(r.room, $3::int4), case when s.failing_since is null then $3::int4 else 1 end) as share
    from visited v join subscriptions s on s.id = v.subscription_id
    left join unnest($4::uuid[], $5::int4[]) as r(id, room) on r.id = s.id
    where s.active and s.project_id <> all($10::uuid[])
      and (s.failing_since is null or s.id in (select p.id from probeable p))
    order by s.id
  ), picked as materialized (
    select p.delivery_id, p.due_at, o.id as subscription_id, o.endpoint_url, o.signing_secret, o.probe
    from open o cross join lateral (
      select t.delivery_id, t.due_at from delivery_tasks t
      where t.subscription_id = o.id and t.due_at <= $6::timestamptz
        and (t.lease_until is null or t.lease_until <= $6::timestamptz)
      order by t.due_at, t.delivery_id limit o.share for update skip locked) p
    limit $7::int4
  ), probing as (
    update subscriptions s set backoff_until = $8::timestamptz
    where s.id in (select subscription_id from picked where probe)
  ), claimed as (
    update delivery_tasks t set lease_owner = $9::uuid, lease_until = $8::timestamptz
    from picked p
    where t.subscription_id = p.subscription_id and t.due_at = p.due_at and t.delivery_id = p.delivery_id
    returning t.delivery_id, t.project_id, t.subscription_id, t.event_id, t.due_at, t.attempts, p.endpoint_url, p.signing_secret, p.probe
  )
  select c.delivery_id as id, c.project_id, c.subscription_id, c.attempts,
    (extract(epoch from c.due_at) * 1000)::float8 as queued_for_ms, c.endpoint_url, c.signing_secret, c.probe,
    e.id as event_id, e.kind, e.toolkit_slug, e.trigger_slug, e.entity_id, e.payload,
    (extract(epoch from e.occurred_at) * 1000)::float8 as occurred_ms,
    (extract(epoch from e.received_at) * 1000)::float8 as received_ms
  from claimed c join events e on e.project_id = c.project_id and e.id = c.event_id
  order by c.delivery_id`,
);

/** The lanes that a claim with the same arguments visits, with what hinders each. Read first: it costs one hop a lane. */
const visitLanes = statement<{ subscription_id: string; ended: boolean }>(
  "visit_lanes",
  `with recursive visited as (
    (select t.subscription_id, 1 as hop from delivery_tasks t
     where t.subscription_id > $1::uuid order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.subscription_id > v.subscription_id order by t.subscription_id limit 1), v.hop + 1
    from visited v where v.subscription_id is not null and v.hop < $2::int4
  )
  select v.subscription_id, s.id is null or not s.active as ended
  from visited v left join subscriptions s on s.id = v.subscription_id
  where v.subscription_id is not null
  order by v.subscription_id`,
);

const zeroUuid = "00000000-0000-0000-0000-000000000000";

/** Claims up to `limit` due deliveries for `owner`; see the statement for order and fairness. */
export async function claim(db: Executor, request: ClaimRequest): Promise<ClaimResult> {
  const after = request.after === undefined ? zeroUuid : uuidOfId(request.after);
  const now = new Date(request.nowMs).toISOString();
  const [lanes, rows] = await Promise.all([
    visitLanes(db, [after, request.lanes]),
    claimDeliveries(db, [
      after,
      request.lanes,
      request.share,
      arrayLiteral([...request.rooms.keys()].map(uuidOfId)),
      arrayLiteral([...request.rooms.values()].map(String)),
      now,
      request.limit,
      new Date(request.leaseUntilMs).toISOString(),
      uuidOfId(request.owner),
      arrayLiteral([...request.fullProjects].map(uuidOfId)),
    ]),
  ]);
  // Lanes are served in their order, so where the limit cut a look off is where the next one goes on.
  const isCut = rows.length >= request.limit;
  const last = isCut ? lastOf(rows.map((row) => row.subscription_id)) : lanes.at(-1)?.subscription_id;
  const isWhole = lanes.length < request.lanes && !isCut;
  return {
    deliveries: rows.map((row) => claimedDelivery(row, request.leaseUntilMs)),
    next: isWhole || last === undefined ? undefined : idOfUuid("sub", last),
    ended: lanes.filter((lane) => lane.ended).map((lane) => idOfUuid("sub", lane.subscription_id)),
  };
}

/** The greatest; UUID texts sort as UUIDs do. */
function lastOf(uuids: readonly string[]): string | undefined {
  return uuids.reduce<string | undefined>((last, uuid) => (last === undefined || uuid > last ? uuid : last), undefined);
}

function claimedDelivery(row: ClaimRow, leaseUntilMs: number): ClaimedDelivery {
  return {
    id: idOfUuid("dlv", row.id),
    projectId: idOfUuid("prj", row.project_id),
    subscriptionId: idOfUuid("sub", row.subscription_id),
    attempts: row.attempts,
    queuedForMs: row.queued_for_ms,
    leaseUntilMs,
    endpointUrl: row.endpoint_url,
    signingSecret: row.signing_secret,
    probe: row.probe,
    event: {
      id: idOfUuid("evt", row.event_id),
      kind: row.kind,
      toolkitSlug: row.toolkit_slug,
      triggerSlug: row.trigger_slug,
      entityId: row.entity_id,
      payload: row.payload,
      occurredAtMs: row.occurred_ms,
      receivedAtMs: row.received_ms,
    },
  };
}
