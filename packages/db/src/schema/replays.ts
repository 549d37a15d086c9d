import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { replayReasons, replayStates } from "./words.ts";

const count = (name: string) => bigint(name, { mode: "number" }).notNull().default(0);

/**
 * A range of events that is delivered again at a pace. While it is running a task of kind `replay` stands for it. The row is locked
 * by whoever queues deliveries of it or changes it, and its position moves with the deliveries that it queues: none is queued twice.
 */
export const replays = pgTable(
  "replays",
  {
    id: idColumn("rpl")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    state: oneOf(replayStates)("state").notNull(),
    /** Why nothing is queued; empty where nothing hinders it. */
    reason: oneOf(replayReasons)("reason").notNull().default(""),
    /** The subscription that it waits for; null while it waits for none. */
    waitsForId: idColumn("sub")("waits_for_id"),
    /** Empty matches every toolkit. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** Catalog-wide slug; empty matches every trigger. */
    triggerSlug: text("trigger_slug").notNull(),
    /** Null: every subscription that was there at the start. */
    subscriptionId: idColumn("sub")("subscription_id"),
    onlyUndelivered: boolean("only_undelivered").notNull(),
    since: time("since").notNull(),
    until: time("until").notNull(),
    perSecond: integer("per_second").notNull(),
    /** Matches counted so far. */
    total: count("total"),
    /** The events from this one on are not counted yet; null once all are. */
    uncountedFromId: idColumn("evt")("uncounted_from_id"),
    queued: count("queued"),
    /** Every pair up to this one is dealt with. Bounds rather than ids: there may be no such event or subscription. */
    positionEventId: idColumn("evt")("position_event_id").notNull(),
    positionSubscriptionId: idColumn("sub")("position_subscription_id").notNull(),
    /** Until when its pace is used up: what may be queued next is the pace over the time since. */
    pacedAt: time("paced_at").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    endedAt: time("ended_at"),
  },
  (table) => [
    index("replays_project").on(table.projectId, table.id),
    index("replays_unfinished").on(table.projectId).where(sql`ended_at is null`),
    index("replays_ended").on(table.endedAt).where(sql`ended_at is not null`),
  ],
);
