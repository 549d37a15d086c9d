import { type EventId, idOfUuid, isoTime, type NodeId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { deliveryTasks, events, subscriptions } from "../schema/triggers.ts";
import type { EventKind } from "../schema/words.ts";
import type { Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { DeliveryTaskKey } from "./enqueue.ts";
import { epochOf } from "./epoch.ts";
import { promoteDeliveries, scanQueues } from "./queue.ts";

/** A pending delivery that this node now holds, with all that sending it needs. */
export type LeasedDelivery = DeliveryTaskKey & {
  projectId: ProjectId;
  /** Attempts of the retry schedule made before. */
  attempts: number;
  /** Where it goes: what the subscription says of its endpoint, secrets sealed. */
  endpoint: Readonly<Row<typeof subscriptions, (typeof endpointColumnNames)[number]>>;
  /** True when the endpoint is backing off and this delivery is its probe. */
  probe: boolean;
  event: {
    id: EventId;
    kind: ClaimRow["kind"];
    toolkitSlug: string;
    triggerSlug: string;
    entityId: string;
    payload: string;
    occurredAtMs: number;
    receivedAtMs: number;
  };
};

/** What `claimDeliveries` takes. */
export type DeliveryClaimRequest = {
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
  /** Whether it is for what paced replays queued, which is served last. */
  behind: boolean;
};

/** What `claimDeliveries` found. */
export type DeliveryClaim = {
  deliveries: LeasedDelivery[];
  /** Where to go on; undefined when the last lane was visited. */
  next: SubscriptionId | undefined;
  /** Subscriptions that have tasks but are inactive or gone: their tasks are to be expired. */
  ended: SubscriptionId[];
  /** Whether paced replays have something queued. */
  hasBehind: boolean;
};

const taskColumns = selectList(deliveryTasks, ["deliveryId", "projectId", "subscriptionId", "attempts", "dueAt"], "c");

const eventColumns = selectList(
  events,
  ["id", "toolkitSlug", "triggerSlug", "entityId", "payload", "occurredAt", "receivedAt"],
  "e",
);

const endpointColumnNames = ["endpointUrl", "signingSecret", "mcpId", "cursor", "formerSecret", "formerUntil"] as const;
const endpointColumns = selectList(subscriptions, endpointColumnNames, "c");
/** The same as the statement hands them on, of the row `alias`. */
const endpointOf = (alias: string) =>
  ["endpoint_url", "signing_secret", "mcp_id", "cursor", "former_secret", "former_until"]
    .map((name) => `${alias}.${name}`)
    .join(", ");

type ClaimRow = RawRow<
  ReturnType<typeof taskColumns.read> & ReturnType<typeof eventColumns.read> & LeasedDelivery["endpoint"]
> & {
  probe: boolean;
  /** Of what has pending deliveries: an event is swept without any. */
  kind: Exclude<EventKind, "swept">;
};

const epoch = epochOf("$10::bool");

/**
 * Claims due deliveries of the lanes in $1, a share a subscription.
 *
 * - Each lane is read from its beginning in delivery_tasks_lane as far as its share, so 100,000 tasks of a dead endpoint cost
 *   nothing more than one, where a plain scan by due_at would read them all each time.
 * - A failing subscription gives one delivery (the probe) once its backoff has passed; `probing` moves the backoff past
 *   the probe's lease, so that no second one goes out meanwhile. `probeable` locks the row for it, and so sees the
 *   backoff that another node has just moved: two looks at the same moment send one probe.
 * - SKIP LOCKED: nodes never wait for each other. A lease that ran out is claimed like a free task; its old owner can
 *   no longer settle it, since every settlement names the owner and the lease.
 */
const claim = statement<ClaimRow>(
  "claim_deliveries",
  `with probeable as materialized (
    select s.id from subscriptions s
    where s.id = any($1::uuid[]) and s.active
      and s.failing_since is not null and s.backoff_until <= $5::timestamptz and s.project_id <> all($9::uuid[])
    for no key update skip locked
  ), open as (
    select s.id, s.project_id, ${endpointOf("s")}, s.failing_since is not null as probe,
      least(coalesce(r.room, $2::int4), case when s.failing_since is null then $2::int4 else 1 end) as share
    from subscriptions s left join unnest($3::uuid[], $4::int4[]) as r(id, room) on r.id = s.id
    where s.id = any($1::uuid[]) and s.active and s.project_id <> all($9::uuid[])
      and (s.failing_since is null or s.id in (select p.id from probeable p))
    order by s.id
  ), picked as materialized (
    select p.delivery_id, p.due_at, o.id as subscription_id, ${endpointOf("o")}, o.probe
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
    returning t.delivery_id, t.project_id, t.subscription_id, t.event_id, t.due_at, t.attempts, ${endpointOf("p")}, p.probe
  )
  select ${taskColumns.text}, ${eventColumns.text}, ${endpointColumns.text}, c.probe, e.kind
  from claimed c join events e on e.project_id = c.project_id and e.id = c.event_id
  order by c.delivery_id`,
);

const zeroUuid = "00000000-0000-0000-0000-000000000000";

/** Waits ended at once at most. */
const promotedMax = 2_000;

/**
 * Claims up to `limit` due deliveries for `owner`; see the statement for order and fairness. A look that begins with the first lane
 * ends the waits that are over, and visits again: a round of looks passes there once.
 */
export async function claimDeliveries(db: Executor, request: DeliveryClaimRequest): Promise<DeliveryClaim> {
  const after = request.after === undefined ? zeroUuid : uuidOfId(request.after);
  const { behind, nowMs } = request;
  const visit = { after, most: request.lanes, behind, nowMs };
  const before = await scanQueues(db, visit);
  const endsWaits = before.hasDue && request.after === undefined && !behind;
  // Where nothing has waited long enough, as mostly, a look is this one statement.
  const hasNews = endsWaits && (await promoteDeliveries(db, nowMs, promotedMax)) > 0;
  const { lanes, hasBehind } = hasNews ? await scanQueues(db, visit) : before;
  const open = lanes.filter((lane) => !lane.ended).map((lane) => lane.subscriptionId);
  const rows = open.length === 0 ? [] : await claimOf(db, open, request);
  // Lanes are served in their order, so where the limit cut a look off is where the next one goes on.
  const isCut = rows.length >= request.limit;
  const last = isCut ? lastOf(rows.map((row) => String(row.subscriptionId))) : lanes.at(-1)?.subscriptionId;
  const isWhole = lanes.length < request.lanes && !isCut;
  return {
    deliveries: rows.map((row) => claimedDelivery(row, request)),
    next: isWhole || last === undefined ? undefined : idOfUuid("sub", last),
    ended: lanes.filter((lane) => lane.ended).map((lane) => idOfUuid("sub", lane.subscriptionId)),
    hasBehind,
  };
}

function claimOf(db: Executor, lanes: readonly string[], request: DeliveryClaimRequest): Promise<ClaimRow[]> {
  return claim(db, [
    arrayLiteral(lanes),
    request.share,
    arrayLiteral([...request.rooms.keys()].map(uuidOfId)),
    arrayLiteral([...request.rooms.values()].map(String)),
    isoTime(request.nowMs),
    request.limit,
    isoTime(request.leaseUntilMs),
    uuidOfId(request.owner),
    arrayLiteral([...request.fullProjects].map(uuidOfId)),
    request.behind,
  ]);
}

/** The greatest; UUID texts sort as UUIDs do. */
function lastOf(uuids: readonly string[]): string | undefined {
  return uuids.reduce<string | undefined>((last, uuid) => (last === undefined || uuid > last ? uuid : last), undefined);
}

function claimedDelivery(
  row: ClaimRow,
  { leaseUntilMs, behind }: Pick<DeliveryClaimRequest, "leaseUntilMs" | "behind">,
): LeasedDelivery {
  const { probe, kind } = row;
  const { endpointUrl, signingSecret, mcpId, cursor, formerSecret, formerUntil } = endpointColumns.read(row);
  const { deliveryId, projectId, subscriptionId, attempts, dueAt } = taskColumns.read(row);
  const { id, toolkitSlug, triggerSlug, entityId, payload, occurredAt, receivedAt } = eventColumns.read(row);
  const texts = { toolkitSlug, triggerSlug, entityId, payload };
  return {
    id: deliveryId,
    projectId,
    subscriptionId,
    attempts,
    queuedForMs: dueAt,
    leaseUntilMs,
    behind,
    endpoint: { endpointUrl, signingSecret, mcpId, cursor, formerSecret, formerUntil },
    probe,
    event: { id, kind, ...texts, occurredAtMs: occurredAt, receivedAtMs: receivedAt },
  };
}
