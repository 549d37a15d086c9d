import { bigint, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idColumn, time } from "./columns.ts";

/** A count of something that happened within a minute or an hour, which begins `at`. */
const counted = () => ({
  projectId: idColumn("prj")("project_id").notNull(),
  /** In the words of activitySeries. */
  series: text("series").notNull(),
  /** The subscription or tool that it happened to; empty: to all of them together. */
  subject: text("subject").notNull(),
  at: time("at").notNull(),
  /** How it went, in the words of its series; of a latency the number of its bucket. */
  outcome: text("outcome").notNull(),
  count: bigint("count", { mode: "number" }).notNull(),
});

/** What happened minute by minute, for two days. Nodes add to it; nothing else than charts is made of it. */
export const activityMinutes = pgTable("activity_minutes", counted(), (table) => [
  primaryKey({
    name: "activity_minutes_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_minutes_at").on(table.at),
]);

/** The same hour by hour, as long as events are kept. */
export const activityHours = pgTable("activity_hours", counted(), (table) => [
  primaryKey({
    name: "activity_hours_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_hours_at").on(table.at),
]);
