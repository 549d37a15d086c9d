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

/** Range of the events of a toolkit (one app): ids from `fromUuid` (inclusive) to `beforeUuid` (exclusive). */
type ToolkitEventsPage = {
  readonly toolkitSlug: string;
  readonly fromUuid: string;
  readonly beforeUuid: string;
  readonly limit: number;
};

/** Returns one page of a toolkit's events, newest first. Scans the index events_trigger once for each trigger of the toolkit. */
const selectPage = statement<RawRow<Row<typeof events>>>(
  "list_toolkit_events",
  // The first part finds every slug with stored events (4 us each). Events of deleted definitions are stored too. It reads all slugs,
  // because some collations mix the slugs of two toolkits. Whole rows are compared, so that PostgreSQL always uses the index.
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

/** Returns events of one toolkit (one app with its tools) of a project, newest first. Test events are absent. */
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

/**
 * Filter of a list of events. A field that is empty or undefined does not filter. `sinceMs` and `untilMs` limit `receivedAt`, in epoch
 * milliseconds.
 */
export type EventFilter = {
  toolkitSlug: string;
  triggerSlug: string;
  /** Lower bound of receivedAt, inclusive. */
  sinceMs: number | undefined;
  /** Upper bound of receivedAt, exclusive. */
  untilMs: number | undefined;
};

/** The events of one project. */
export type EventRepository = {
  /**
   * Returns the event with this id, which may be a test event. Does not find events that only send an ask (a question of a job) to
   * endpoints.
   */
  find(id: EventId): Promise<Event | undefined>;
  /** Returns events, newest first, beginning after the id `after`. Test events are absent. */
  list(filter: EventFilter, page: EventPosition): Promise<Event[]>;
  /**
   * Returns events by conditions that have no index, newest first, beginning after the id `after`. Test events are absent. Scans at most
   * 20,000 events.
   */
  walk(filter: EventFilter & WalkedEventFilter, page: EventPosition): Promise<WalkedPage<Event>>;
};

type EventPosition = { after: EventId | undefined; limit: number };

/** Returns the repository of one project's events. */
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
      // A trigger's slug begins with the slug of its toolkit. So no event has this toolkit together with a trigger of another toolkit.
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

/** Returns the UUID in an event's id, which an EventMatchFilter needs for the first and last event. */
export function uuidOfEvent(id: EventId): string {
  return uuidOfId(id);
}

/** Returns the UUID that follows an event's UUID. It is the exclusive upper bound of a range that ends with this event. */
export function uuidAfterEvent(id: EventId): string {
  const next = BigInt(`0x${uuidOfId(id).replaceAll("-", "")}`) + 1n;
  const hex = next.toString(16).padStart(32, "0");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
