import { type EventId, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import type { WalkedPage } from "../sql/filter.ts";
import { idBounds } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { type WalkedEventFilter, walkEvents } from "./list-walked.ts";

const columns = selectList(events, namesBut(events), "e");

/** Events of a toolkit with an id from `fromUuid` on and below `beforeUuid`. */
type ToolkitEventsPage = {
  readonly toolkitSlug: string;
  readonly fromUuid: string;
  readonly beforeUuid: string;
  readonly limit: number;
};

/**
 * Merges one backward scan of events_trigger per trigger of the toolkit, each at most as long as the page. A filtered scan of the project's
 * events would read all of them if the toolkit has few.
 * It takes the triggers from the database, one index hop each, because a deleted definition, or another node's, has events too. In some
 * collations the names of two toolkits are mixed, so the hops continue over every trigger with events in the deployment: 4 us each. Rows
 * are compared in the index's order, so no other index fits, with any statistics about a trigger's share.
 */
const selectPage = statement<RawRow<Row<typeof events>>>(
  "list_toolkit_events",
  `with recursive triggers(slug) as (
    (select trigger_slug from events where trigger_slug >= $1::text order by trigger_slug limit 1)
    union all
    select (select trigger_slug from events where trigger_slug > t.slug order by trigger_slug limit 1)
    from triggers t where t.slug is not null
  )
  select ${columns.text} from triggers t cross join lateral (
    select * from events
    where (trigger_slug, project_id, id) >= (t.slug, $2::uuid, $3::uuid)
      and (trigger_slug, project_id, id) < (t.slug, $2::uuid, $4::uuid) and kind = 'event'
    order by trigger_slug desc, project_id desc, id desc limit $5::int4) e
  where starts_with(t.slug, $1::text) order by e.id desc limit $5::int4`,
);

/** Returns events of one toolkit of a project, newest first, without tests. */
async function listToolkitEvents(
  db: Executor,
  projectId: ProjectId,
  { toolkitSlug, fromUuid, beforeUuid, limit }: ToolkitEventsPage,
): Promise<Row<typeof events>[]> {
  const rows = await selectPage(db, [`${toolkitSlug}.`, uuidOfId(projectId), fromUuid, beforeUuid, limit]);
  return rows.map((row) => columns.read(row));
}

/** A stored event. */
export type Event = typeof events.$inferSelect;

/** Filter of a list of events; empty strings and undefined match all. Bounds apply to receivedAt, epoch milliseconds. */
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
  /** Returns any event, including tests, but not the events that publish asks. */
  find(id: EventId): Promise<Event | undefined>;
  /** Newest first, without tests, after `after`. */
  list(filter: EventFilter, page: EventPosition): Promise<Event[]>;
  /** The same by conditions without an index; scans at most 20,000 events. */
  walk(filter: EventFilter & WalkedEventFilter, page: EventPosition): Promise<WalkedPage<Event>>;
};

type EventPosition = { after: EventId | undefined; limit: number };

/** Returns the events of one project. */
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
      // A trigger's slug begins with its toolkit's, so no event has this toolkit and another toolkit's trigger.
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

/** Returns the UUID of an event, for the bounds of an EventMatchFilter. */
export function uuidOfEvent(id: EventId): string {
  return uuidOfId(id);
}

/** Returns the next UUID after an event's: the exclusive upper bound of a range with only this event. */
export function uuidAfterEvent(id: EventId): string {
  const next = BigInt(`0x${uuidOfId(id).replaceAll("-", "")}`) + 1n;
  const hex = next.toString(16).padStart(32, "0");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
