import { sql } from "drizzle-orm";
import { boolean, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { eventSettingsDocument } from "../documents/document.ts";
import { bytes, document, idColumn, time } from "./columns.ts";
import { projects } from "./projects.ts";

/** Types of the events that a project publishes itself. The trigger of a type is `events.<name>`. */
export const eventTypes = pgTable(
  "event_types",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    name: text("name").notNull(),
    version: integer("version").notNull(),
    /** JSON Schema of the payload. It is JSON text, because jsonb loses the order of properties. Empty: every object is accepted. */
    schema: text("schema").notNull(),
    description: text("description").notNull(),
    /** An example of a payload, as JSON text. Empty if svc could not make one from the schema. */
    sample: text("sample").notNull(),
    /** Time from which the event type refuses new events. Null if the event type accepts them. */
    archivedAt: time("archived_at"),
    /** True if the project offers the type to its customers. */
    offered: boolean("offered").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ name: "event_types_key", columns: [table.projectId, table.name] }),
    uniqueIndex("event_types_lower").on(table.projectId, sql`lower(name)`),
  ],
);

/** Versions of the schemas of event types. */
export const eventTypeVersions = pgTable(
  "event_type_versions",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    name: text("name").notNull(),
    version: integer("version").notNull(),
    schema: text("schema").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [primaryKey({ name: "event_type_versions_key", columns: [table.projectId, table.name, table.version] })],
);

/** A project's settings for the events that it publishes itself, and the look of its portal. A project without a row has the defaults. */
export const eventSettings = pgTable("event_settings", {
  projectId: idColumn("prj")("project_id")
    .primaryKey()
    .references(() => projects.id),
  settings: document(eventSettingsDocument)("settings").notNull(),
  /** Logo of the portal, an image. Null if it has none. */
  logo: bytes("logo"),
});
