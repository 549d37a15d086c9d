import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { filterBy, walkRowsMax } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { Event } from "./repo.ts";

const columns = selectList(events, namesBut(events), "w");

/** Selects the events of a project that a client follows as they arrive. A field that is empty does not restrict the selection. */
export type FollowedEvents = {
  readonly toolkitSlug: string;
  readonly triggerSlugs: readonly string[];
  readonly entityId: string;
  /** The toolkits (apps with their tools and webhooks) that the reader may read. Empty: all. */
  readonly readableToolkits: readonly string[];
};

/** Range of events that one look (one read of a project's new events) scans. */
type LookRange = {
  /** Start of the searched range of event ids, inclusive. */
  readonly fromUuid: string;
  /** End of the searched range of event ids, exclusive. */
  readonly beforeUuid: string;
  /**
   * Database snapshot of the reader's previous read. Events that were visible in this snapshot are left out, because the reader has them.
   */
  readonly seen: string;
  /**
   * PostgreSQL snapshot in which this search for new events began. Events that were not visible in the snapshot are left out. Undefined for
   * the first page of a search.
   */
  readonly snapshot: string | undefined;
  readonly limit: number;
};

/** Result of one search for events that arrived in a project since the previous search. */
export type Look = {
  /** Identifies the database. It changes after a restore, or if another server takes over. Old snapshots then mean nothing. */
  readonly store: string;
  readonly snapshot: string;
  /** UUIDs of the new events, oldest first. */
  readonly uuids: readonly string[];
  /** Number of events that this read of new events scanned, at most 20,000. */
  readonly scanned: number;
  /**
   * Last event that this read of new events scanned, if the read stopped at its maximum number of events. Undefined if it reached the end
   * of its range.
   */
  readonly walkedTo: string | undefined;
};

type LookRow = Omit<Look, "walkedTo"> & { readonly last: string | null };

/** Database snapshot for the first read of new events. No transaction is visible in it, so every event counts as new. */
export const emptySnapshot = "1:1:";

// The SQL compares whole rows in the order of the index, so that PostgreSQL cannot use another index. `xmin` is the lower half of the id of
// the transaction that inserted an event. The upper half comes from the next transaction id, because a visible row is older than that id.
/**
 * Returns the SQL of one search for new events. An event is new if its transaction was not visible in the snapshot of the previous search.
 */
const lookOf = (key: string, values: string) => `with look as materialized (
    select coalesce($5::text, pg_current_snapshot()::text)::pg_snapshot as snapshot, $4::pg_snapshot as seen,
      pg_snapshot_xmax(pg_current_snapshot())::text::int8 as next
  ), scanned as materialized (
    select w.id, w.kind = 'event' and ($6::text = '' or w.toolkit_slug = $6::text)
      and ($7::text[] = '{}' or w.trigger_slug = any($7::text[])) and ($8::text = '' or w.entity_id = $8::text)
      and ($9::text[] = '{}' or w.toolkit_slug = any($9::text[]))
      and not pg_visible_in_snapshot((l.next - ((l.next - w.inserted_by) & 4294967295))::text::xid8, l.seen)
      and pg_visible_in_snapshot((l.next - ((l.next - w.inserted_by) & 4294967295))::text::xid8, l.snapshot) as is_new
    from (select id, kind, toolkit_slug, trigger_slug, entity_id, xmin::text::int8 as inserted_by from events
      where (${key}, id) >= (${values}, $2::uuid) and (${key}, id) < (${values}, $3::uuid)
      order by ${key}, id limit ${walkRowsMax}) w cross join look l
  )
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || '/'
      || (select count(*) from restores) as store,
    snapshot::text, array(select id::text from scanned where is_new order by id limit $10::int4) as uuids,
    (select count(*)::int4 from scanned) as scanned, (select id::text from scanned order by id desc limit 1) as last
  from look`;

/** Finds new events of a project since the reader's last read. Uses the index events_key. */
const lookAtProject = statement<LookRow>("look_at_events", lookOf("project_id", "$1::uuid"));

/** Finds the events of one trigger by the index events_trigger. */
const lookAtTrigger = statement<LookRow>(
  "look_at_events_of_trigger",
  lookOf("trigger_slug, project_id", "$11::text, $1::uuid"),
);

/**
 * Finds the new events in a range of ids. An event is new if its transaction was not yet committed at the previous search, so late commits
 * are not missed. Returns only the UUIDs of the events.
 */
export async function lookForEvents(
  db: Executor,
  projectId: ProjectId,
  { toolkitSlug, triggerSlugs, entityId, readableToolkits }: FollowedEvents,
  { fromUuid, beforeUuid, seen, snapshot, limit }: LookRange,
): Promise<Look> {
  // Ids follow the times of receipt, and transactions commit in another order. So `xmin` says what is new. It is exact, because events are
  // recorded without savepoints and do not change while they are new.
  const [trigger, ...others] = triggerSlugs;
  const given = [
    ...[uuidOfId(projectId), fromUuid, beforeUuid, seen, snapshot ?? null, toolkitSlug],
    ...[arrayLiteral(triggerSlugs), entityId, arrayLiteral(readableToolkits), limit],
  ];
  const isOfOne = trigger !== undefined && others.length === 0;
  const [row] = await (isOfOne ? lookAtTrigger(db, [...given, trigger]) : lookAtProject(db, given));
  if (row === undefined) throw new Error("a look returned no row");
  const { last, ...look } = row;
  return { ...look, walkedTo: look.scanned === walkRowsMax ? (last ?? undefined) : undefined };
}

/** Reads events by their keys until their payloads together exceed the maximum size. The first event is always read. */
const readPage = statement<RawRow<Row<typeof events>>>(
  "read_followed_events",
  `select ${columns.text} from (
    select *, row_number() over (order by id) as place, sum(octet_length(payload)) over (order by id) as size
    from events where project_id = $1::uuid and id = any($2::uuid[])) w
   where w.place = 1 or w.size <= $3::int8 order by w.id`,
);

/**
 * Returns the events with these UUIDs, oldest first. Leaves out events that were deleted. Stops before the payloads together exceed
 * `bytesMax`, but always returns the first event.
 */
export async function readFollowedEvents(
  db: Executor,
  projectId: ProjectId,
  uuids: readonly string[],
  bytesMax: number,
): Promise<Event[]> {
  if (uuids.length === 0) return [];
  const rows = await readPage(db, [uuidOfId(projectId), arrayLiteral(uuids), bytesMax]);
  return rows.map((row) => columns.read(row));
}

/** A pair of an event and a subscription that selects this event. */
export type EventMatch = { eventId: EventId; subscriptionId: SubscriptionId };

/**
 * Pairs of events and the subscriptions that select them by trigger and entity. The subscriptions' own filters are not applied yet.
 * `filtered`: those of the subscriptions that have a filter.
 */
export type FoundPairs = { readonly pairs: readonly EventMatch[]; readonly filtered: readonly SubscriptionId[] };

/**
 * Selects pairs of event and subscription for a replay or a search. An empty or undefined field selects everything. `fromUuid`: lowest
 * event id.
 */
export type EventMatchFilter = {
  fromUuid: string;
  /** Upper bound of the ids of the events to match, exclusive. */
  toUuid: string;
  toolkitSlug: string;
  triggerSlug: string;
  subscriptionId: SubscriptionId | undefined;
  /** True to omit pairs of event and subscription whose delivery is delivered or pending. */
  onlyUndelivered: boolean;
  /** True to omit pairs of event and subscription whose delivery is pending, even if `onlyUndelivered` is false. Default: false. */
  withoutPending?: boolean;
};

/**
 * Returns the SQL condition that a subscription may receive events of a trigger. Subscriptions that customers created in the portal receive
 * only event types that the project offers.
 */
export const isOfferedTo = (subscription: string, projectId: string, triggerSlug: string): string =>
  `(${subscription}.origin = '' or exists (select from event_types y where y.project_id = ${projectId}
      and y.name = substr(${triggerSlug}, 8) and y.offered offset 0))`;

const matchColumns = "s.id, s.toolkit_slug, s.trigger_slug, s.trigger_slugs, s.entity_id, s.origin, s.settings";
const isActive = "s.project_id = $1::uuid and s.kind = 'events' and s.active";

/** Subscriptions that are compared with each event: the subscription $6, or all that are not limited to an entity (customer or user). */
const compared = `with compared as materialized (
    select ${matchColumns} from subscriptions s where s.id = $6::uuid and ${isActive}
    union all
    select ${matchColumns} from subscriptions s where $6::uuid is null and s.entity_id = '' and ${isActive}
  )`;

/**
 * Pairs events with matching subscriptions. Leaves out pairs that have a delivery in one of the states $7. `offset 0` makes PostgreSQL look
 * up these deliveries for each pair, instead of loading all deliveries.
 */
const matches = `from events e cross join lateral (
    select * from compared
    union all
    select ${matchColumns} from subscriptions s where $6::uuid is null and s.entity_id = e.entity_id and s.entity_id <> '' and ${isActive}
  ) s
  where e.project_id = $1::uuid and e.kind = 'event' and e.id >= $2::uuid and e.id < $3::uuid
    and ($4::text = '' or e.toolkit_slug = $4::text) and ($5::text = '' or e.trigger_slug = $5::text)
    and (s.toolkit_slug = e.toolkit_slug or (s.toolkit_slug = '' and e.toolkit_slug <> 'svc'))
    and not (e.toolkit_slug = 'svc' and starts_with(e.dedupe_key, s.id::text || '/')) and (s.trigger_slug = '' or s.trigger_slug = e.trigger_slug)
    and (s.trigger_slugs = '{}' or e.trigger_slug = any(s.trigger_slugs))
    and (s.entity_id = '' or s.entity_id = e.entity_id) and ${isOfferedTo("s", "e.project_id", "e.trigger_slug")}
    and ($7::text[] = '{}' or not exists (
      select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and ${filterBy("d.subscription_id", "s.id")}
        and d.state = any($7::text[]) offset 0))`;

/**
 * Returns pairs of an event and a subscription that matches the event. It reads a range of events by their primary key, and then the
 * project's subscriptions. If the filter has states of deliveries, it also reads the deliveries of each pair.
 */
const selectMatches = statement<{ event_id: string; subscription_id: string; is_filtered: boolean | null }>(
  "find_matches",
  `${compared} select e.id as event_id, s.id as subscription_id, s.settings ? 'filter' as is_filtered ${matches}
   order by e.id, s.id limit $8::int4`,
);

/** Counts the pairs of an event and a subscription that match. `is_filtered`: true if one of the subscriptions has a filter. */
const countMatches = statement<{ count: string; is_filtered: boolean | null }>(
  "count_matches",
  `${compared} select count(*) as count, bool_or(s.settings ? 'filter') as is_filtered ${matches}`,
);

/**
 * Returns at most `limit` pairs of an event and a subscription that selects it, oldest event first. The subscriptions' own filters
 * (expressions) are not applied yet. Uses the primary key of events.
 */
export async function findEventMatches(
  db: Executor,
  projectId: ProjectId,
  filter: EventMatchFilter,
  limit: number,
): Promise<FoundPairs> {
  const rows = await selectMatches(db, [...matchParameters(projectId, filter), limit]);
  const filtered = new Set(rows.flatMap((row) => (row.is_filtered === true ? [row.subscription_id] : [])));
  return {
    pairs: rows.map((row) => ({
      eventId: idOfUuid("evt", row.event_id),
      subscriptionId: idOfUuid("sub", row.subscription_id),
    })),
    filtered: [...filtered].map((id) => idOfUuid("sub", id)),
  };
}

/**
 * Counts the pairs of an event and a subscription that selects it. The subscriptions' own filters (expressions) are not applied.
 * `hasFilters`: true if one of these subscriptions has a filter, so the number may be too high.
 */
export async function countEventMatches(
  db: Executor,
  projectId: ProjectId,
  filter: EventMatchFilter,
): Promise<{ readonly count: number; readonly hasFilters: boolean }> {
  const [row] = await countMatches(db, matchParameters(projectId, filter));
  return { count: Number(row?.count ?? 0), hasFilters: row?.is_filtered === true };
}

function matchParameters(projectId: ProjectId, filter: EventMatchFilter) {
  return [
    uuidOfId(projectId),
    filter.fromUuid,
    filter.toUuid,
    filter.toolkitSlug,
    filter.triggerSlug,
    filter.subscriptionId === undefined ? null : uuidOfId(filter.subscriptionId),
    arrayLiteral(filter.onlyUndelivered ? ["delivered", "pending"] : filter.withoutPending === true ? ["pending"] : []),
  ];
}
