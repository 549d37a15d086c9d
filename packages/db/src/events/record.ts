import {
  type DeliveryId,
  type EventId,
  idOfUuid,
  type NodeId,
  type ProjectId,
  type SubscriptionId,
  uuidOfId,
} from "@svc/core";
import type { Executor } from "../connect.ts";
import { currentEpoch } from "../deliveries/epoch.ts";
import { projects } from "../schema/projects.ts";
import { standingArrivals } from "../schema/standing.ts";
import { dedupeDigest, deliveries, events, routingShards } from "../schema/triggers.ts";
import { bool, fieldsBut, fieldsOf, idOf, int8, orNull, type Row, timestamptz } from "../sql/codec.ts";
import { compose, type PartNames, type PartValues, query } from "../sql/compose.ts";
import { compareKeys } from "../sql/filter.ts";
import { rows, values } from "../sql/select-list.ts";

/** A delivery that is stored together with its event. */
export type NewDelivery = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  /**
   * True if the node that stores the delivery also sends it at once. The delivery's task is then inserted with a lease of this node (only
   * this node may send it for a limited time). False if any node may claim the task.
   */
  leased: boolean;
};

/** An event to store, with the deliveries and inbox entries that are stored in the same transaction. */
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
  /** Deduplication key. Empty: the event is never a duplicate. */
  dedupeKey: string;
  /**
   * The app's own id of the account that the webhook post named. If this account is connected to svc later, its entity (a customer or user)
   * becomes the entity of this event.
   */
  account?: string | undefined;
  /** The span that stores the event, as a W3C `traceparent`. */
  traceparent?: string | undefined;
  deliveries: NewDelivery[];
  /**
   * Version of the project's routing (who receives which events). Present if standing programs (schedules) subscribe to the event's
   * trigger. The event is then also stored in the inbox from which standing programs are started.
   */
  subscribedVersion?: number | undefined;
};

/**
 * Versions of the routing (who receives an event) that the caller has read. `version`: of the deployment. `projects`: of each project.
 * `shards`: of groups of entities (customers or users). If a version has changed since then, nothing is stored.
 */
export type RoutingSnapshot = {
  version: number;
  projects: ReadonlyMap<ProjectId, number>;
  shards?: readonly ShardVersion[];
};

/**
 * The version of the subscriptions in a shard (group of entities). It grows with every change of such a subscription. Version 0: the shard
 * never had a subscription.
 */
export type ShardVersion = Row<typeof routingShards, "projectId" | "shard" | "version">;

/**
 * Result of storing events. `stale` true: the routing (who receives an event) has changed since the caller read it, so nothing was stored.
 * `moved`: the new versions, if only groups of entities (shards) changed. `stale` false: all events except `duplicates` were stored.
 */
export type RecordResult =
  | { stale: true; moved: readonly ShardVersion[] | undefined }
  | { stale: false; duplicates: ReadonlySet<string> };

const { occurredAt: occurredAtMs, receivedAt: receivedAtMs, ...eventFields } = fieldsBut(events);

const parts = {
  seen: rows(fieldsOf(projects, "id", "routingVersion")),
  posted: rows({ ...eventFields, occurredAtMs, receivedAtMs }),
  fresh: rows({ ...fieldsOf(deliveries, "id", "eventId", "subscriptionId"), leased: bool }),
  by: values({ version: orNull(int8), owner: orNull(idOf("node")), leaseUntil: orNull(timestamptz) }),
};
const subscribedParts = { heard: rows(fieldsOf(standingArrivals, "eventId", "triggerSlug", "routingVersion")) };
const narrowedParts = { ...subscribedParts, shards: rows(fieldsOf(routingShards, "projectId", "shard", "version")) };

type RecordRow = { fresh: boolean; duplicates: string[] | null; moved?: MovedRow[] | null };
type MovedRow = { readonly project_id: string; readonly shard: number; readonly version: string };

/**
 * Two parts of the statement that stores events only if the shards (groups of entities) have not changed since the caller read them.
 * `isCurrent`: the condition that all given shards are unchanged. `moved`: a query for the present versions of the changed shards.
 */
type ShardsText = { readonly isCurrent: string; readonly moved: string };

/**
 * Returns the SQL statement that stores events with their deliveries and tasks. The statement stores nothing if a subscription has changed
 * since the caller read it. `also`: more SQL for the `with` clause. `shards`: SQL that compares the versions of shards (groups of
 * entities).
 */
const textOf = (
  { seen, posted, fresh, by }: PartNames<typeof parts>,
  also: string,
  shards?: ShardsText,
) => query<RecordRow>`with ${shards === undefined ? "routing" : "others"} as materialized (
    select ${by.version} is null or (select s.version from routing_state s) = ${by.version}
       and not exists (
         select from ${seen.from("seen")}
         left join projects p on p.id = seen.id
         where p.routing_version is distinct from seen.routing_version) as fresh
  )${shards === undefined ? "" : `, routing as materialized (select fresh and ${shards.isCurrent} as fresh from others)`}, input as materialized (
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
      then array(select i.id::text from input i where not exists (select from stored s where s.id = i.id)) end as duplicates${
        shards === undefined
          ? ""
          : `,
    case when (select o.fresh and not r.fresh from others o, routing r) then (select json_agg(m) from (${shards.moved}) m) end as moved`
      }`;

const record = compose("record_events", parts, (names) => textOf(names, ""));

/** Stores events, and queues them for the standing programs that these events start. */
const recordSubscribed = compose("record_heard_events", { ...parts, ...subscribedParts }, ({ heard, ...names }) =>
  textOf(names, arrivedOf(heard)),
);

/** Stores events like `recordSubscribed`, but only if the subscriptions of their entities have not changed since the caller read them. */
const recordNarrowed = compose(
  // A separate statement, so that projects without such subscriptions pay nothing for it. It reads at most sixteen rows of each project.
  "record_narrowed_events",
  { ...parts, ...narrowedParts },
  ({ heard, shards, ...names }) => textOf(names, arrivedOf(heard), shardsTextOf(shards)),
);

function shardsTextOf(shards: PartNames<typeof narrowedParts>["shards"]): ShardsText {
  const changed = `from ${shards.from("met")}
         left join routing_shards r on r.project_id = met.project_id and r.shard = met.shard
         where coalesce(r.version, 0) <> met.version`;
  return {
    isCurrent: `not exists (
         select ${changed})`,
    moved: `
         select met.project_id, met.shard, coalesce(r.version, 0)::text as version ${changed}`,
  };
}

function arrivedOf(heard: PartNames<typeof subscribedParts>["heard"]): string {
  return `, arrived as (
    insert into standing_arrivals (due_at, project_id, event_id, trigger_slug, routing_version)
    select s.received_at, s.project_id, s.id, h.trigger_slug, h.routing_version
    from ${heard.from("h")} join stored s on s.id = h.event_id
  )`;
}

/**
 * Returns events sorted by their dedupe keys, the order in which these keys must be written. All writers use this order, so that they do
 * not deadlock. If a transaction stores events with several statements, the order applies across these statements.
 */
export function inOrderOfDedupe(posted: readonly NewEvent[]): NewEvent[] {
  const keyOf = ({ projectId, triggerSlug, dedupeKey }: NewEvent) => [projectId, triggerSlug, dedupeKey];
  return posted.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b)));
}

/**
 * Stores the events `posted` with their deliveries in one transaction. `routing`: versions of the data from which the deliveries were
 * computed; undefined if none was used. `lease`: until `untilMs`, only the node `owner` may send the leased deliveries. Two events in
 * `posted` must differ in project, trigger or dedupe key.
 */
export async function recordEvents(
  db: Executor,
  posted: readonly NewEvent[],
  routing: RoutingSnapshot | undefined,
  lease: { owner: NodeId; untilMs: number } | undefined,
): Promise<RecordResult> {
  const seen = [...(routing?.projects ?? [])].map(([id, routingVersion]) => ({ id, routingVersion }));
  const given = {
    seen,
    posted: inOrderOfDedupe(posted).map((event) => {
      return { ...event, account: event.account || null, traceparent: event.traceparent ?? null };
    }),
    fresh: posted.flatMap(({ id: eventId, deliveries: own }) => own.map((delivery) => ({ ...delivery, eventId }))),
    by: { version: routing?.version, owner: lease?.owner, leaseUntil: lease?.untilMs },
  };
  const heard = posted.flatMap(({ id: eventId, triggerSlug, subscribedVersion: routingVersion }) => {
    return routingVersion === undefined ? [] : [{ eventId, triggerSlug, routingVersion }];
  });
  const [row] = await runRichest(db, { ...given, heard, shards: routing?.shards ?? [] });
  if (row === undefined || !row.fresh) return { stale: true, moved: row?.moved?.map(movedShard) };
  // ON CONFLICT waits for an uncommitted duplicate, so svc answers 2xx to a duplicate only after the first event is committed.
  const duplicates = new Set(row.duplicates ?? []);
  if (duplicates.size === 0) return { stale: false, duplicates };
  return { stale: false, duplicates: new Set(posted.map(({ id }) => id).filter((id) => duplicates.has(uuidOfId(id)))) };
}

function movedShard({ project_id, shard, version }: MovedRow): ShardVersion {
  return { projectId: idOfUuid("prj", project_id), shard, version: Number(version) };
}

/** Stores a batch of events with one of three statements: the cheapest that can store everything in the batch. */
function runRichest(db: Executor, given: PartValues<typeof parts & typeof narrowedParts>) {
  if (given.shards.length > 0) return recordNarrowed(db, given);
  return given.heard.length > 0 ? recordSubscribed(db, given) : record(db, given);
}
