import { type EventId, firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";

/** A stored event. */
export type Event = typeof events.$inferSelect;

/** Which events to list; empty strings and undefined match all. Bounds are on receivedAt, epoch milliseconds. */
export type EventFilter = {
  toolkitSlug: string;
  triggerSlug: string;
  /** Inclusive. */
  sinceMs: number | undefined;
  /** Exclusive. */
  untilMs: number | undefined;
};

/** Events of one project. */
export type EventRepository = {
  /** Any event, tests included; what asks were published as are none. */
  find(id: EventId): Promise<Event | undefined>;
  /** Newest first, tests left out, from after `after`. */
  list(filter: EventFilter, page: { after: EventId | undefined; limit: number }): Promise<Event[]>;
};

/** The events of one project. */
export function eventsForProject(db: Executor, projectId: ProjectId): EventRepository {
  return {
    async find(id) {
      const [row] = await db.orm
        .select()
        .from(events)
        .where(and(eq(events.projectId, projectId), eq(events.id, id), inArray(events.kind, ["event", "test"])));
      return row;
    },
    list: (filter, page) =>
      db.orm
        .select()
        .from(events)
        .where(
          and(
            eq(events.projectId, projectId),
            eq(events.kind, "event"),
            filter.toolkitSlug === "" ? undefined : eq(events.toolkitSlug, filter.toolkitSlug),
            filter.triggerSlug === "" ? undefined : eq(events.triggerSlug, filter.triggerSlug),
            page.after === undefined ? undefined : sql`${events.id} < ${uuidOfId(page.after)}::uuid`,
            ...receivedBetween(filter),
          ),
        )
        .orderBy(desc(events.id))
        .limit(page.limit),
  };
}

/** Bounds on receivedAt as bounds on the key, which carries the same millisecond: the primary key serves them. */
function receivedBetween(range: { sinceMs: number | undefined; untilMs: number | undefined }) {
  return [
    range.sinceMs === undefined ? undefined : sql`${events.id} >= ${firstUuidAt(range.sinceMs)}::uuid`,
    range.untilMs === undefined ? undefined : sql`${events.id} < ${firstUuidAt(range.untilMs)}::uuid`,
  ];
}

/** The UUID of an event, as a bound of a EventMatchFilter. */
export function uuidOfEvent(id: EventId): string {
  return uuidOfId(id);
}

/** The next UUID after an event's: the exclusive upper bound that leaves just this event. */
export function uuidAfterEvent(id: EventId): string {
  const next = BigInt(`0x${uuidOfId(id).replaceAll("-", "")}`) + 1n;
  const hex = next.toString(16).padStart(32, "0");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
