import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  type EventMatch,
  type EventMatchFilter,
  type FoundPairs,
  findEventMatches,
  readFollowedEvents,
} from "@svc/db/events/follow";
import { type Event, uuidAfterEvent, uuidOfEvent } from "@svc/db/events/repo";
import { countReplayMatches, findReplayMatches, type ReplayFilter } from "@svc/db/replays/match";
import { readSubscriptionFilters } from "@svc/db/subscriptions/filters";
import type { Filters } from "./filters.ts";

/** Dependencies of applying filters to stored events. */
export type FilteringContext = { readonly db: Executor; readonly filters: Pick<Filters, "begin"> };

/** Limits of the events that one statement reads: their number, and the total size of their payloads in bytes. */
const readMax = { events: 200, bytes: 2_097_152 };

/**
 * Returns the pairs of event and subscription that are to be delivered: those in which the subscription's filter accepts the event. A
 * subscription without a filter accepts every event. Pairs of deleted events are left out.
 */
export async function acceptedPairs(
  { db, filters }: FilteringContext,
  projectId: ProjectId,
  { pairs, filtered }: FoundPairs,
): Promise<readonly EventMatch[]> {
  const filterOf = await readSubscriptionFilters(db, projectId, filtered);
  if (filterOf.size === 0) return pairs;
  const wanted = new Map<EventId, Set<string>>();
  for (const { eventId, subscriptionId } of pairs) {
    const filter = filterOf.get(subscriptionId);
    if (filter !== undefined) wanted.set(eventId, (wanted.get(eventId) ?? new Set()).add(filter));
  }
  const test = filters.begin(`project:${projectId}`);
  const accepted = new Map<EventId, ReadonlySet<string>>();
  for await (const event of readEvents(db, projectId, [...wanted.keys()])) {
    const outcomes = await test(
      { ...event, occurredAtMs: event.occurredAt, receivedAtMs: event.receivedAt },
      wanted.get(event.id) ?? [],
    );
    const passed = [...outcomes].filter(([, { outcome }]) => outcome === "match" || outcome === "unevaluated");
    accepted.set(event.id, new Set(passed.map(([filter]) => filter)));
  }
  return pairs.filter(({ eventId, subscriptionId }) => {
    const filter = filterOf.get(subscriptionId);
    return filter === undefined || accepted.get(eventId)?.has(filter) === true;
  });
}

/** Reads events in parts, so that few payloads are in memory at once. Leaves out deleted events. */
async function* readEvents(db: Executor, projectId: ProjectId, ids: readonly EventId[]): AsyncGenerator<Event> {
  let rest = ids.map(uuidOfId).sort();
  while (rest.length > 0) {
    const part = rest.slice(0, readMax.events);
    const events = await readFollowedEvents(db, projectId, part, readMax.bytes);
    yield* events;
    const last = events.at(-1);
    const lastUuid = last === undefined ? part.at(-1) : uuidOfId(last.id);
    rest = rest.filter((uuid) => uuid > (lastUuid ?? ""));
  }
}

/** Maximum number of pairs of an event and a subscription that one database statement reads. */
const pageSize = 5_000;

/**
 * Yields pairs of an event and a subscription whose filter accepts the event, for the events of a time range. Yields several pairs at a
 * time, oldest event first.
 */
export async function* acceptedMatches(
  context: FilteringContext,
  projectId: ProjectId,
  filter: EventMatchFilter,
): AsyncGenerator<readonly EventMatch[]> {
  let fromUuid: string | undefined = filter.fromUuid;
  let limit = pageSize;
  while (fromUuid !== undefined) {
    const found: FoundPairs = await findEventMatches(context.db, projectId, { ...filter, fromUuid }, limit);
    const last = found.pairs.length < limit ? undefined : found.pairs.at(-1)?.eventId;
    const whole = found.pairs.filter(({ eventId }) => eventId !== last);
    // The page must contain all pairs of its last event. If all its pairs belong to one event, a longer page is read.
    if (last !== undefined && whole.length === 0) {
      limit *= 2;
      continue;
    }
    yield await acceptedPairs(context, projectId, { pairs: whole, filtered: found.filtered });
    fromUuid = last && uuidOfEvent(last);
  }
}

/** Number of accepted events by subscription, and the event from which to continue counting; undefined if all are counted. */
export type AcceptedCounts = {
  readonly counts: ReadonlyMap<SubscriptionId, number>;
  readonly next: EventId | undefined;
};

const nilUuid = "00000000-0000-0000-0000-000000000000";

/**
 * Counts the deliveries that a replay would make, by subscription. Starts at the event `fromId`. `next`: event at which the next call
 * continues.
 */
export async function countAccepted(
  context: FilteringContext,
  replay: ReplayFilter,
  fromId: EventId,
): Promise<AcceptedCounts> {
  const unfiltered = await countReplayMatches(context.db, replay, fromId);
  if (!unfiltered.hasFilters) return unfiltered;
  const counts = new Map<SubscriptionId, number>();
  let position: EventMatch | undefined = { eventId: fromId, subscriptionId: idOfUuid("sub", nilUuid) };
  while (position !== undefined) {
    const found: Awaited<ReturnType<typeof findReplayMatches>> = await findReplayMatches(context.db, replay, position, {
      limit: pageSize,
      events: pageSize,
    });
    const last = found.pairs.length < pageSize ? undefined : found.pairs.at(-1)?.eventId;
    const isOne = last !== undefined && found.pairs.every(({ eventId }) => eventId === last);
    const pairs = isOne ? found.pairs : found.pairs.filter(({ eventId }) => eventId !== last);
    for (const { subscriptionId } of await acceptedPairs(context, replay.projectId, { ...found, pairs }))
      counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1);
    if (!isOne) {
      if (last !== undefined) return { counts, next: last };
      return { counts, next: found.next && idOfUuid("evt", uuidAfterEvent(found.next.eventId)) };
    }
    position = found.next;
  }
  return { counts, next: undefined };
}
