import { bigint, boolean, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { callPaceDocument } from "../documents/call-pace.ts";
import { document, idColumn, time } from "./columns.ts";
import { projects } from "./projects.ts";

/** What a project holds its own calls to, so that an app is not overrun. Nodes read the limits of a project anew every half second. */
export const callLimits = pgTable(
  "call_limits",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    name: text("name").notNull(),
    /** Empty for calls of every toolkit. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** CEL, which says what is counted together; empty where all of it is. */
    keyExpression: text("key_expression").notNull(),
    /** Calls under way at once; 0 for any number. */
    concurrency: integer("concurrency").notNull(),
    /** Calls that begin within any `rate_per_ms`; 0 for any number. */
    rateMax: integer("rate_max").notNull(),
    ratePerMs: bigint("rate_per_ms", { mode: "number" }).notNull(),
    isPaused: boolean("is_paused").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ name: "call_limits_key", columns: [table.projectId, table.name] })],
);

/**
 * Where the calls that a limit counts together stand: a row a limit and key, shared by all nodes and written by comparing
 * `revision`. It means nothing from `expiresAt` on, and a missing row means the same as one that has expired.
 */
export const callPaces = pgTable(
  "call_paces",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** Of a limit of the project, or of a toolkit's own rate. */
    limitName: text("limit_name").notNull(),
    key: text("key").notNull(),
    pace: document(callPaceDocument)("pace").notNull(),
    /** Another one after every write. */
    revision: text("revision").notNull(),
    /** The revision that the last write was made from; empty where there was no row. */
    madeFrom: text("made_from").notNull(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ name: "call_paces_key", columns: [table.projectId, table.limitName, table.key] }),
    index("call_paces_expires").on(table.expiresAt),
  ],
);
