import { type EventId, firstUuidAt, idOfUuid, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type EventMatch, type FoundPairs, isOfferedTo } from "../events/follow.ts";
import { uuidAfterEvent } from "../events/repo.ts";
import { deliveryStates } from "../schema/words.ts";
import { filterBy } from "../sql/filter.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { ReplayRecord } from "./repo.ts";

/** The highest UUID. No id is higher, so it is the end of a range that has no other end. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Maximum events that one statement scans. It limits the cost of a step, however few events match. */
const eventsMax = 5_000;
const eventsCountedMax = 50_000;
const pairsMax = 20_000;
/**
 * Maximum comparisons of an event with a subscription in one statement. If a project has many subscriptions, the statement therefore scans
 * fewer events.
 */
const comparisonsMax = 2_000_000;

const wantedColumns =
  "s.id, s.toolkit_slug, s.trigger_slug, s.trigger_slugs, s.entity_id, s.origin, s.settings ? 'filter' as is_filtered";
/**
 * SQL condition that a replay may deliver to the subscription `s`: it is active, and older than the replay. `is true` keeps PostgreSQL from
 * using an unsuitable index.
 */
const isWanted = "s.project_id = $1::uuid and s.kind = 'events' and s.active and (s.id < $8::uuid) is true";
// An event of svc about a project goes only to subscriptions that name the toolkit `svc`. An event about a subscription never goes to this
// subscription. The dedupe key of such an event begins with the subscription's id.
const isMatch = `(s.toolkit_slug = w.toolkit_slug or (s.toolkit_slug = '' and w.toolkit_slug <> 'svc'))
        and (s.trigger_slug = '' or s.trigger_slug = w.trigger_slug)
        and (s.trigger_slugs = '{}' or w.trigger_slug = any(s.trigger_slugs))
        and not (w.toolkit_slug = 'svc' and starts_with(w.dedupe_key, s.id::text || '/')) and ${isOfferedTo("s", "$1::uuid", "w.trigger_slug")}
      where w.kind = 'event' and ($4::text = '' or w.toolkit_slug = $4::text) and ($5::text = '' or w.trigger_slug = $5::text)`;

/**
 * SQL that pairs events of a project with the subscriptions to which a replay delivers them. `compared`: the requested subscription, or all
 * subscriptions without an entity. `of_entities`: subscriptions of the entities that the events name.
 */
const walk = `compared as materialized (
    select ${wantedColumns} from subscriptions s where s.id = $6::uuid and ${isWanted}
    union all
    select ${wantedColumns} from subscriptions s where $6::uuid is null and s.entity_id = '' and ${isWanted}
  ), walked as materialized (
    select e.id, e.kind, e.toolkit_slug, e.trigger_slug, e.entity_id, e.dedupe_key from events e
    where e.project_id = $1::uuid and e.id >= $2::uuid and e.id < $3::uuid order by e.id
    limit (select least($9::int8, greatest(100, ${comparisonsMax} / greatest(1, count(*)))) from compared)
  ), of_entities as materialized (
    select ${wantedColumns} from (select distinct entity_id from walked where entity_id <> '' and $6::uuid is null
      and exists (select from routing_shards where project_id = $1::uuid)) e
    cross join lateral (
      select * from subscriptions s where s.entity_id = e.entity_id and s.entity_id <> '' and ${isWanted} offset 0) s
  ), wanted as (
    select * from compared union all select * from of_entities
  ), paired as (
    select w.id as event_id, s.id as subscription_id from walked w join compared s
      on (s.entity_id = '' or s.entity_id = w.entity_id) and ${isMatch}
    union all
    select w.id as event_id, s.id as subscription_id from walked w join of_entities s on s.entity_id = w.entity_id and ${isMatch}
  )`;

/**
 * SQL condition that a subscription has no delivery of the event in a state that $7 lists. If $7 is empty, the condition is always true.
 * With $10, the subscription must also have a delivery of the event that failed for good.
 */
const isUndelivered = `($7::text[] = '{}' or not exists (
    select from deliveries d where d.project_id = $1::uuid and d.event_id = p.event_id and ${filterBy("d.subscription_id", "p.subscription_id")}
      and d.state = any($7::text[]) offset 0))
    and (not $10::bool or exists (
    select from deliveries d where d.project_id = $1::uuid and d.event_id = p.event_id and ${filterBy("d.subscription_id", "p.subscription_id")}
      and d.state = 'dead_letter' offset 0))`;

/**
 * Columns about the end of the scan. `walked_to`: the last scanned event; null if there was none. `cut`: true if the scan stopped at its
 * maximum.
 */
const walkEnd = `(select id from walked order by id desc limit 1) as walked_to,
    (select count(*) from walked) >= (select least($9::int8, greatest(100, ${comparisonsMax} / greatest(1, count(*)))) from compared) as cut`;

/** Column with the ids of the scanned subscriptions that have a filter. */
const filteredIds = "array(select id::text from wanted where is_filtered) as filtered_ids";

type WalkEnd = { walked_to: string | null; cut: boolean; filtered_ids: string[] };

type MatchRow = WalkEnd & {
  event_ids: string[];
  subscription_ids: string[];
  looked_event: string | null;
  looked_subscription: string | null;
  looked_cut: boolean;
};

/**
 * Finds the next pairs of event and subscription that a replay must deliver, in order. They follow the pair of the event $2 and the
 * subscription $11. Uses the indexes events_key, subscriptions_general,
 * subscriptions_entity and deliveries_event.
 */
const findMatches = statement<MatchRow>(
  "find_replay_matches",
  `with ${walk}, looked as materialized (
    select * from paired where event_id > $2::uuid or subscription_id > $11::uuid order by event_id, subscription_id limit $12::int8
  ), found as materialized (
    select p.event_id, p.subscription_id from looked p where ${isUndelivered} order by p.event_id, p.subscription_id limit $13::int8
  ), last as (
    select event_id, subscription_id from looked order by event_id desc, subscription_id desc limit 1
  )
  select array(select event_id::text from found order by event_id, subscription_id) as event_ids,
    array(select subscription_id::text from found order by event_id, subscription_id) as subscription_ids,
    (select event_id from last) as looked_event, (select subscription_id from last) as looked_subscription,
    (select count(*) from looked) >= $12::int8 as looked_cut, ${walkEnd}, ${filteredIds}`,
);

/** Counts by subscription the events that a replay would deliver. Uses the same indexes as the statement `find_replay_matches`. */
const countMatches = statement<WalkEnd & { subscription_id: string | null; count: string }>(
  "count_replay_matches",
  `with ${walk}, counted as materialized (
    select p.subscription_id, count(*) as count from paired p where ${isUndelivered} group by p.subscription_id
  )
  select c.subscription_id, coalesce(c.count, 0) as count, ${walkEnd}, ${filteredIds} from (select 1) one left join counted c on true`,
);

/** Columns of a replay that select the events to deliver again, and the subscriptions that receive them. */
export type ReplayFilter = Pick<
  ReplayRecord,
  "projectId" | "toolkitSlug" | "triggerSlug" | "subscriptionId" | "onlyUndelivered" | "until" | "createdAt"
> &
  Partial<Pick<ReplayRecord, "ofPause" | "onlyFailed">>;

/**
 * A part of the deliveries that a replay makes again, as pairs of event and subscription, in order. The subscriptions' filters are not
 * applied yet. `next`: the position from which the search continues.
 */
export type FoundMatches = FoundPairs & {
  /**
   * The last checked pair of an event and a subscription, from which the next search continues. Undefined if the search has reached the
   * end.
   */
  readonly next: EventMatch | undefined;
};

/**
 * Limits of one search for what a replay delivers again. `limit`: maximum number of pairs of event and subscription to return. `events`:
 * maximum number of events to scan.
 */
export type MatchBounds = { readonly limit: number; readonly events: number };

/**
 * Searches for deliveries that a replay must repeat: pairs of an event and a subscription, in order, after `position`. Returns the next
 * pairs. The search has reached the end if `next` is undefined. A result with few or no pairs is not the end if `next` is set.
 */
export async function findReplayMatches(
  db: Executor,
  filter: ReplayFilter,
  position: EventMatch,
  { limit, events }: MatchBounds,
): Promise<FoundMatches> {
  const walkMax = Math.max(Math.min(eventsMax, events), limit);
  const parameters = [...parametersOf(filter, uuidOfId(position.eventId), walkMax), uuidOfId(position.subscriptionId)];
  const [row] = await findMatches(db, [...parameters, Math.max(pairsMax, limit), limit]);
  if (row === undefined) throw new Error("find_replay_matches returned no row");
  const pairs = row.event_ids.map((eventId, index) => matchOf(eventId, row.subscription_ids[index] ?? lastUuid));
  const found = { pairs, filtered: row.filtered_ids.map((id) => idOfUuid("sub", id)) };
  if (pairs.length >= limit) return { ...found, next: pairs.at(-1) };
  if (row.looked_cut && row.looked_event !== null && row.looked_subscription !== null) {
    return { ...found, next: matchOf(row.looked_event, row.looked_subscription) };
  }
  if (!row.cut || row.walked_to === null) return { ...found, next: undefined };
  return { ...found, next: matchOf(row.walked_to, lastUuid) };
}

/**
 * Result of counting the deliveries of a replay, before the subscriptions' filters are applied. `counts`: for each subscription, the number
 * of events that match it. `next`: the event from which to continue counting; undefined if all events are counted. `hasFilters`: true if a
 * counted subscription has a filter.
 */
export type CountedMatches = {
  readonly counts: ReadonlyMap<SubscriptionId, number>;
  readonly next: EventId | undefined;
  readonly hasFilters: boolean;
};

/**
 * Counts the pairs of event and subscription that a replay would deliver, from the event `fromId` on. It scans as many events as one
 * statement may. Returns the counts, and the event from which to continue.
 */
export async function countReplayMatches(db: Executor, filter: ReplayFilter, fromId: EventId): Promise<CountedMatches> {
  const rows = await countMatches(db, parametersOf(filter, uuidOfId(fromId), eventsCountedMax));
  const counts = new Map<SubscriptionId, number>();
  for (const { subscription_id: id, count } of rows) if (id !== null) counts.set(idOfUuid("sub", id), Number(count));
  const [end] = rows;
  const hasFilters = (end?.filtered_ids.length ?? 0) > 0;
  if (end === undefined || !end.cut || end.walked_to === null) return { counts, next: undefined, hasFilters };
  return { counts, hasFilters, next: idOfUuid("evt", uuidAfterEvent(idOfUuid("evt", end.walked_to))) };
}

/**
 * Returns delivery states. If a subscription has a delivery of an event in one of these states, the replay does not deliver the event
 * again. A replay after a pause of the subscription skips every event with a delivery, so that failed deliveries are not repeated.
 */
function skippedStates({ ofPause, onlyUndelivered }: Pick<ReplayFilter, "ofPause" | "onlyUndelivered">): string[] {
  if (!onlyUndelivered) return [];
  return ofPause === true ? [...deliveryStates] : ["delivered", "pending"];
}

function matchOf(eventUuid: string, subscriptionUuid: string): EventMatch {
  return { eventId: idOfUuid("evt", eventUuid), subscriptionId: idOfUuid("sub", subscriptionUuid) };
}

function parametersOf(filter: ReplayFilter, fromUuid: string, walkMax: number) {
  return [
    uuidOfId(filter.projectId),
    fromUuid,
    filter.until === null ? lastUuid : firstUuidAt(filter.until),
    filter.toolkitSlug,
    filter.triggerSlug,
    filter.subscriptionId === null ? null : uuidOfId(filter.subscriptionId),
    arrayLiteral(skippedStates(filter)),
    firstUuidAt(filter.createdAt + 1),
    walkMax,
    filter.onlyFailed === true,
  ];
}
