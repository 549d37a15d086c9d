import { type DeliveryId, type EventId, type NodeId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/** A delivery that is stored with its event. */
export type NewDelivery = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  /** True when the storing node sends it at once: the row is inserted leased to that node. */
  leased: boolean;
};

/** An event to be stored, with everything that commits together with it. */
export type NewEvent = {
  id: EventId;
  projectId: ProjectId;
  kind: "event" | "test" | "ask";
  toolkitSlug: string;
  triggerSlug: string;
  entityId: string;
  payload: string;
  occurredAtMs: number;
  receivedAtMs: number;
  /** Empty: never a duplicate. */
  dedupeKey: string;
  deliveries: NewDelivery[];
};

/** What the caller computed the deliveries from; when the store has moved on, nothing is stored. */
export type RoutingSeen = { version: number; projects: ReadonlyMap<ProjectId, number> };

/** `stale`: nothing was stored, read the routing again. Else the ids in `duplicates` were seen before, the others are stored. */
export type RecordOutcome = { stale: true } | { stale: false; duplicates: ReadonlySet<string> };

/**
 * Stores a batch of events, their deliveries and tasks in one statement, hence in one commit and one
 * round trip.
 *
 * - `routing` compares versions instead of joining subscriptions: the caller already knows every row, so nothing has to
 *   be sent back, and a subscription made on another node a moment ago is still never missed.
 * - `stored` inserts in the order of the keys, so two nodes with the same keys wait for each other in one order and cannot
 *   deadlock. ON CONFLICT waits for an uncommitted twin: a duplicate is answered 2xx only after the first is committed.
 * - All arrays have one length a kind; unnest keeps the statement's text, and so its plan, the same for every batch.
 * Indexes touched: routing by primary keys; inserts at the right edge of (project_id, id) and its siblings.
 */
const recordEvents = statement<{ fresh: boolean; duplicates: string[] | null }>(
  "record_events",
  `with routing as materialized (
    select $1::int8 is null or (select s.version from routing_state s) = $1::int8
       and not exists (
         select from unnest($2::uuid[], $3::int8[]) as seen(id, version)
         left join projects p on p.id = seen.id
         where p.routing_version is distinct from seen.version) as fresh
  ), input as materialized (
    select * from unnest($4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
                         $11::timestamptz[], $12::timestamptz[], $13::text[])
      as i(id, project_id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
    where (select fresh from routing)
  ), stored as materialized (
    insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
    select project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key
    from input order by project_id, trigger_slug, dedupe_key
    on conflict (project_id, trigger_slug, dedupe_key) where dedupe_key <> '' do nothing
    returning id, project_id, received_at
  ), pending as materialized (
    select d.id, d.subscription_id, d.leased, s.id as event_id, s.project_id, s.received_at
    from unnest($14::uuid[], $15::uuid[], $16::uuid[], $17::bool[]) as d(id, event_id, subscription_id, leased)
    join stored s on s.id = d.event_id
  ), delivered as (
    insert into deliveries (project_id, id, event_id, subscription_id, state, next_attempt_at)
    select project_id, id, event_id, subscription_id, 'pending', received_at from pending
  ), queued as (
    insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, lease_owner, lease_until)
    select id, project_id, subscription_id, event_id, received_at,
      case when leased then $18::uuid end, case when leased then $19::timestamptz end
    from pending
  )
  select (select fresh from routing) as fresh,
    case when (select count(*) from input) > (select count(*) from stored)
      then array(select i.id::text from input i where not exists (select from stored s where s.id = i.id)) end as duplicates`,
);

/**
 * Stores `events` and what belongs to them, all or nothing. `routing` undefined stands for deliveries that rest on no routing.
 * Two events of one batch must not share project, trigger and dedupe key.
 */
export async function record(
  db: Executor,
  events: readonly NewEvent[],
  routing: RoutingSeen | undefined,
  lease: { owner: NodeId; untilMs: number },
): Promise<RecordOutcome> {
  const deliveries = events.flatMap((event) =>
    event.deliveries.map((delivery) => ({ ...delivery, eventId: event.id })),
  );
  const uuids = new Map(events.map((event) => [event.id, uuidOfId(event.id)]));
  const uuidOfEvent = (id: EventId) => uuids.get(id) ?? uuidOfId(id);
  const seen = routing?.projects ?? new Map<ProjectId, number>();
  const projectUuids = new Map([...seen.keys()].map((id) => [id, uuidOfId(id)]));
  const [row] = await recordEvents(db, [
    routing?.version ?? null,
    arrayLiteral([...projectUuids.values()]),
    arrayLiteral([...seen.values()].map(String)),
    arrayLiteral(events.map((event) => uuidOfEvent(event.id))),
    arrayLiteral(events.map((event) => projectUuids.get(event.projectId) ?? uuidOfId(event.projectId))),
    arrayLiteral(events.map((event) => event.kind)),
    arrayLiteral(events.map((event) => event.toolkitSlug)),
    arrayLiteral(events.map((event) => event.triggerSlug)),
    arrayLiteral(events.map((event) => event.entityId)),
    arrayLiteral(events.map((event) => event.payload)),
    arrayLiteral(events.map((event) => new Date(event.occurredAtMs).toISOString())),
    arrayLiteral(events.map((event) => new Date(event.receivedAtMs).toISOString())),
    arrayLiteral(events.map((event) => event.dedupeKey)),
    arrayLiteral(deliveries.map((delivery) => uuidOfId(delivery.id))),
    arrayLiteral(deliveries.map((delivery) => uuidOfEvent(delivery.eventId))),
    arrayLiteral(deliveries.map((delivery) => uuidOfId(delivery.subscriptionId))),
    arrayLiteral(deliveries.map((delivery) => (delivery.leased ? "t" : "f"))),
    uuidOfId(lease.owner),
    new Date(lease.untilMs).toISOString(),
  ]);
  if (row === undefined || !row.fresh) return { stale: true };
  const duplicates = new Set(row.duplicates ?? []);
  return {
    stale: false,
    duplicates: new Set(events.filter((e) => duplicates.has(uuidOfEvent(e.id))).map((e) => e.id)),
  };
}
