import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { type AccessClass, hookDecisions, hookPhases } from "./words.ts";

/** An address of a project's own that is asked about its calls, before they are sent or after. Nodes read a project's anew every half second. */
export const callHooks = pgTable(
  "call_hooks",
  {
    id: idColumn("hok")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    phase: oneOf(hookPhases)("phase").notNull(),
    endpointUrl: text("endpoint_url").notNull(),
    /** Sealed. */
    signingSecret: bytes("signing_secret").notNull(),
    /** Calls of which toolkits and classes it is asked about; empty for all. */
    toolkitSlugs: text("toolkit_slugs").array().notNull(),
    accessClasses: text("access_classes").array().$type<AccessClass[]>().notNull(),
    /** Those of one phase are asked in this order, and then by id. */
    position: integer("position").notNull(),
    isActive: boolean("is_active").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [uniqueIndex("call_hooks_project").on(table.projectId, table.id)],
);

/**
 * What a hook said of a call, for the ledger. Of a call with an idempotency key, a yes or an edit before it is sent binds its repeats: it is
 * committed before anything is sent, so that a call that is made again after a crash is the same.
 */
export const hookAnswers = pgTable(
  "hook_answers",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    callId: idColumn("call")("call_id").notNull(),
    hookId: idColumn("hok")("hook_id").notNull(),
    /** Whose data an edit may have. */
    entityId: text("entity_id").notNull(),
    /** The call's idempotency key, where the answer binds its repeats. */
    callKey: text("call_key"),
    decision: oneOf(hookDecisions)("decision").notNull(),
    /** Sealed JSON of what it changes of the arguments. */
    edit: bytes("edit"),
    durationMs: integer("duration_ms").notNull(),
    askedAt: time("asked_at").notNull(),
  },
  (table) => [
    primaryKey({ name: "hook_answers_call", columns: [table.projectId, table.callId, table.hookId] }),
    uniqueIndex("hook_answers_key").on(table.projectId, table.callKey, table.hookId).where(sql`call_key is not null`),
    index("hook_answers_asked").on(table.askedAt),
  ],
);
