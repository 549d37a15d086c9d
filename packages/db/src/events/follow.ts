import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { filterBy, walkRowsMax } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { Event } from "./repo.ts";

const columns = selectList(events, namesBut(events), "w");

/** Range of a trigger's events to read next. If the entity is empty, events of all entities match. */
type EventsToFollow = {
  readonly triggerSlug: string;
  readonly entityId: string;
  /** Lower bound of the event ids, inclusive. */
  readonly fromUuid: string;
  /** Upper bound of the event ids, exclusive. */
  readonly beforeUuid: string;
  /** UUIDs of events to leave out, because the caller already knows these events. */
  readonly exceptUuids: readonly string[];
  readonly limit: number;
};

/**
 * SQL of a forward scan of the index events_trigger. It compares whole rows in the order of this index, so that PostgreSQL cannot use
 * another index.
 */
const scan = (names: string) => `select ${names} from events
  where (trigger_slug, project_id, id) >= ($1::text, $2::uuid, $3::uuid)
    and (trigger_slug, project_id, id) < ($1::text, $2::uuid, $4::uuid)
  order by trigger_slug, project_id, id limit ${walkRowsMax}`;

/** Reads the oldest matching events first. Scans at most 20,000 events. */
const selectNext = statement<RawRow<Row<typeof events>>>(
  "follow_events",
  `select ${columns.text} from (${scan("*")}) w
   where w.kind = 'event' and ($5::text = '' or w.entity_id = $5::text) and w.id <> all($6::uuid[])
   order by w.trigger_slug, w.project_id, w.id limit $7::int4`,
);

/** Returns the last event of a scan that stopped at its maximum of 20,000 events. Reads only the keys of the index. */
const selectEnd = statement<{ id: string }>(
  "end_followed_events",
  `select id from (${scan("id")}) e offset ${walkRowsMax} - 1 limit 1`,
);

/**
 * The next events, oldest first. `walkedTo`: id of the event from which the caller continues, if the first 20,000 events contained fewer
 * matches than requested.
 */
type FollowedEvents = { readonly rows: Event[]; readonly walkedTo: Event["id"] | undefined };

/**
 * Returns the next events of a trigger. The caller must read each range a second time later. The reason: an event's id contains the time of
 * its receipt, but its commit can be later. So a new event may have a lower id than events that were already read.
 */
export async function followEvents(
  db: Executor,
  projectId: ProjectId,
  { triggerSlug, entityId, fromUuid, beforeUuid, exceptUuids, limit }: EventsToFollow,
): Promise<FollowedEvents> {
  const place = [triggerSlug, uuidOfId(projectId), fromUuid, beforeUuid];
  const found = await selectNext(db, [...place, entityId, arrayLiteral(exceptUuids), limit]);
  const rows = found.map((row) => columns.read(row));
  if (rows.length >= limit) return { rows, walkedTo: undefined };
  const [end] = await selectEnd(db, place);
  return { rows, walkedTo: end && idOfUuid("evt", end.id) };
}

/** A pair of an event and a matching subscription. */
export type EventMatch = { eventId: EventId; subscriptionId: SubscriptionId };

/**
 * Filter of events to match with the active subscriptions of a project. A field that is undefined or empty does not filter. The UUID bounds
 * apply to event ids.
 */
export type EventMatchFilter = {
  fromUuid: string;
  /** Upper bound of the event ids, exclusive. */
  toUuid: string;
  toolkitSlug: string;
  triggerSlug: string;
  subscriptionId: SubscriptionId | undefined;
  /** True to omit pairs of event and subscription whose delivery is delivered or pending. */
  onlyUndelivered: boolean;
  /** True to omit pairs of event and subscription whose delivery is pending, even if `onlyUndelivered` is false. Default: false. */
  withoutPending?: boolean;
};

/** `offset 0` makes PostgreSQL look up the deliveries of each pair. Without it, PostgreSQL loaded all deliveries into one hash table. */
const matches = `from events e join subscriptions s on s.project_id = e.project_id and s.kind = 'events' and s.active
    and (s.toolkit_slug = '' or s.toolkit_slug = e.toolkit_slug) and (s.trigger_slug = '' or s.trigger_slug = e.trigger_slug)
    and (s.entity_id = '' or s.entity_id = e.entity_id)
  where e.project_id = $1::uuid and e.kind = 'event' and e.id >= $2::uuid and e.id < $3::uuid
    and ($4::text = '' or e.toolkit_slug = $4::text) and ($5::text = '' or e.trigger_slug = $5::text)
    and ($6::uuid is null or s.id = $6::uuid)
    and ($7::text[] = '{}' or not exists (
      select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and ${filterBy("d.subscription_id", "s.id")}
        and d.state = any($7::text[]) offset 0))`;

/**
 * Returns pairs of an event and a subscription that matches the event. It reads a range of events by their primary key, and then the
 * project's subscriptions. If the filter has states of deliveries, it also reads the deliveries of each pair.
 */
const selectMatches = statement<{ event_id: string; subscription_id: string }>(
  "find_matches",
  `select e.id as event_id, s.id as subscription_id ${matches} order by e.id, s.id limit $8::int4`,
);

/** Reads events by the bounds of their primary key, then the subscriptions of the project, and then the deliveries of each pair. */
const countMatches = statement<{ count: string }>("count_matches", `select count(*) as count ${matches}`);

/** Returns at most `limit` pairs of an event and a matching subscription, oldest event first. Uses the primary key of events. */
export async function findEventMatches(
  db: Executor,
  projectId: ProjectId,
  filter: EventMatchFilter,
  limit: number,
): Promise<EventMatch[]> {
  const rows = await selectMatches(db, [...matchParameters(projectId, filter), limit]);
  return rows.map((row) => ({
    eventId: idOfUuid("evt", row.event_id),
    subscriptionId: idOfUuid("sub", row.subscription_id),
  }));
}

/** Returns the number of pairs of an event and a matching subscription. */
export async function countEventMatches(db: Executor, projectId: ProjectId, filter: EventMatchFilter): Promise<number> {
  const [row] = await countMatches(db, matchParameters(projectId, filter));
  return Number(row?.count ?? 0);
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
