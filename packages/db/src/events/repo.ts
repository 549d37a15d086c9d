import { type EventId, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { idBounds } from "../sql/newest-in.ts";
import type { Walked } from "../sql/walk.ts";
import { listToolkitEvents } from "./list-toolkit.ts";
import { type WalkedEventFilter, walkEvents } from "./list-walked.ts";

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
  list(filter: EventFilter, page: EventPlace): Promise<Event[]>;
  /** The same by what no index has: it looks at 20,000 events at most. */
  walk(filter: EventFilter & WalkedEventFilter, page: EventPlace): Promise<Walked<Event>>;
};

type EventPlace = { after: EventId | undefined; limit: number };

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
    async list(filter, { after, limit }) {
      const { toolkitSlug, triggerSlug } = filter;
      const bounds = idBounds(filter, after);
      if (triggerSlug === "" && toolkitSlug !== "") {
        return listToolkitEvents(db, projectId, { toolkitSlug, ...bounds, limit });
      }
      // The slug of a trigger begins with its toolkit's: nothing is of one and of another's trigger.
      if (toolkitSlug !== "" && !triggerSlug.startsWith(`${toolkitSlug}.`)) return [];
      return db.orm
        .select()
        .from(events)
        .where(
          and(
            eq(events.projectId, projectId),
            eq(events.kind, "event"),
            triggerSlug === "" ? undefined : eq(events.triggerSlug, triggerSlug),
            sql`${events.id} >= ${bounds.fromUuid}::uuid`,
            sql`${events.id} < ${bounds.beforeUuid}::uuid`,
          ),
        )
        .orderBy(desc(events.id))
        .limit(limit);
    },
    walk: (filter, { after, limit }) => walkEvents(db, projectId, filter, { ...idBounds(filter, after), limit }),
  };
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
