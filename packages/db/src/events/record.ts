import { type DeliveryId, type EventId, type NodeId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { currentEpoch } from "../deliveries/epoch.ts";
import { projects } from "../schema/projects.ts";
import { standingArrivals } from "../schema/standing.ts";
import { dedupeDigest, deliveries, events } from "../schema/triggers.ts";
import { bool, fieldsBut, fieldsOf, idOf, int8, orNull, timestamptz } from "../sql/codec.ts";
import { compose, type PartNames, query } from "../sql/compose.ts";
import { compareKeys } from "../sql/filter.ts";
import { rows, values } from "../sql/select-list.ts";

/** A delivery stored with its event. */
export type NewDelivery = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  /** True if the storing node sends it at once: the row is inserted with a lease of that node. */
  leased: boolean;
};

/** An event to store, with everything committed together with it. */
export type NewEvent = {
  id: EventId;
  projectId: ProjectId;
  kind: "event" | "test" | "ask" | "notice";
  toolkitSlug: string;
  triggerSlug: string;
  entityId: string;
  payload: string;
  occurredAtMs: number;
  receivedAtMs: number;
  /** Empty: never a duplicate. */
  dedupeKey: string;
  /** The app's own key of the account named by the post. It decides whose event it is if that account is connected later. */
  account?: string | undefined;
  deliveries: NewDelivery[];
  /** Routing version of its project, if standing programs subscribe to its trigger; the event goes to their inbox. */
  subscribedVersion?: number | undefined;
};

/** The routing that the deliveries were computed from; if it has changed, nothing is stored. */
export type RoutingSnapshot = { version: number; projects: ReadonlyMap<ProjectId, number> };

/** `stale`: nothing was stored; read the routing again. Otherwise `duplicates` has the ids of duplicates, and the others are stored. */
export type RecordResult = { stale: true } | { stale: false; duplicates: ReadonlySet<string> };

const { occurredAt: occurredAtMs, receivedAt: receivedAtMs, ...eventFields } = fieldsBut(events);

const parts = {
  seen: rows(fieldsOf(projects, "id", "routingVersion")),
  posted: rows({ ...eventFields, occurredAtMs, receivedAtMs }),
  fresh: rows({ ...fieldsOf(deliveries, "id", "eventId", "subscriptionId"), leased: bool }),
  by: values({ version: orNull(int8), owner: idOf("node"), leaseUntil: timestamptz }),
};
const subscribedParts = { heard: rows(fieldsOf(standingArrivals, "eventId", "triggerSlug", "routingVersion")) };

type RecordRow = { fresh: boolean; duplicates: string[] | null };

/**
 * Stores a batch of events with their deliveries and tasks in one statement, so in one commit and one round trip.
 * - `routing` compares versions instead of joining subscriptions. The caller already has every row, so nothing is sent back, and a
 * subscription made on another node a moment ago is never missed.
 * - `stored` inserts in the order of `input`, which is the order of the keys. So two nodes with the same keys wait for each other in one
 * order and cannot deadlock. ON CONFLICT waits for an uncommitted duplicate: a duplicate gets its 2xx only after the first is committed.
 * - All arrays of one kind have equal lengths; unnest keeps the statement's text, and so its plan, the same for every batch.
 * - `also`: CTEs that use `stored`, before the last one. Indexes: routing by primary keys; inserts at the right edge of (project_id, id)
 * and similar indexes, and at random positions in the index of dedupe digests.
 */
const textOf = (
  { seen, posted, fresh, by }: PartNames<typeof parts>,
  also: string,
) => query<RecordRow>`with routing as materialized (
    select ${by.version} is null or (select s.version from routing_state s) = ${by.version}
       and not exists (
         select from ${seen.from("seen")}
         left join projects p on p.id = seen.id
         where p.routing_version is distinct from seen.routing_version) as fresh
  ), input as materialized (
    select * from ${posted.from("i")} where (select fresh from routing)
  ), stored as materialized (
    insert into events (${posted.columns}) select ${posted.columns} from input
    on conflict (${dedupeDigest}) where dedupe_key <> '' do nothing
    returning id, project_id, received_at
  ), pending as materialized (
    select d.id, d.subscription_id, d.leased, s.id as event_id, s.project_id, s.received_at
    from ${fresh.from("d")} join stored s on s.id = d.event_id
  ), delivered as (
    insert into deliveries (project_id, id, event_id, subscription_id, state, next_attempt_at)
    select project_id, id, event_id, subscription_id, 'pending', received_at from pending
  ), queued as (
    insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, epoch, lease_owner, lease_until)
    select id, project_id, subscription_id, event_id, received_at, ${currentEpoch},
      case when leased then ${by.owner} end, case when leased then ${by.leaseUntil} end
    from pending
  )${also}
  select (select fresh from routing) as fresh,
    case when (select count(*) from input) > (select count(*) from stored)
      then array(select i.id::text from input i where not exists (select from stored s where s.id = i.id)) end as duplicates`;

const record = compose("record_events", parts, (names) => textOf(names, ""));

/** The same with events for the inbox of standing programs; separate, so that other events cost no more. */
const recordSubscribed = compose("record_heard_events", { ...parts, ...subscribedParts }, ({ heard, ...names }) =>
  textOf(
    names,
    `, arrived as (
    insert into standing_arrivals (due_at, project_id, event_id, trigger_slug, routing_version)
    select s.received_at, s.project_id, s.id, h.trigger_slug, h.routing_version
    from ${heard.from("h")} join stored s on s.id = h.event_id
  )`,
  ),
);

/**
 * Sorts events in the order in which their dedupe keys are written. If several statements of a transaction record events, each must come
 * after those of the previous one.
 */
export function inOrderOfDedupe(posted: readonly NewEvent[]): NewEvent[] {
  const keyOf = ({ projectId, triggerSlug, dedupeKey }: NewEvent) => [projectId, triggerSlug, dedupeKey];
  return posted.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b)));
}

/**
 * Stores `posted` and what belongs to them, all or nothing. `routing` undefined: the deliveries depend on no routing. Two events of one
 * batch must not share project, trigger and dedupe key.
 */
export async function recordEvents(
  db: Executor,
  posted: readonly NewEvent[],
  routing: RoutingSnapshot | undefined,
  lease: { owner: NodeId; untilMs: number },
): Promise<RecordResult> {
  const seen = [...(routing?.projects ?? [])].map(([id, routingVersion]) => ({ id, routingVersion }));
  const given = {
    seen,
    posted: inOrderOfDedupe(posted).map((event) => ({ ...event, account: event.account || null })),
    fresh: posted.flatMap(({ id: eventId, deliveries: own }) => own.map((delivery) => ({ ...delivery, eventId }))),
    by: { version: routing?.version, owner: lease.owner, leaseUntil: lease.untilMs },
  };
  const heard = posted.flatMap(({ id: eventId, triggerSlug, subscribedVersion: routingVersion }) => {
    return routingVersion === undefined ? [] : [{ eventId, triggerSlug, routingVersion }];
  });
  const [row] = heard.length === 0 ? await record(db, given) : await recordSubscribed(db, { ...given, heard });
  if (row === undefined || !row.fresh) return { stale: true };
  const duplicates = new Set(row.duplicates ?? []);
  if (duplicates.size === 0) return { stale: false, duplicates };
  return { stale: false, duplicates: new Set(posted.map(({ id }) => id).filter((id) => duplicates.has(uuidOfId(id)))) };
}
