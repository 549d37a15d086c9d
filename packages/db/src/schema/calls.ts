import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { accessClasses, callStates } from "./words.ts";

/** The ledger: one row a call of a tool, also of calls that were held or refused. */
export const toolCalls = pgTable(
  "tool_calls",
  {
    id: idColumn("call")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    toolSlug: text("tool_slug").notNull(),
    accessClass: oneOf(accessClasses)("access_class").notNull(),
    entityId: text("entity_id").notNull(),
    accountId: idColumn("acc")("account_id"),
    keyId: idColumn("key")("key_id"),
    jobId: idColumn("job")("job_id"),
    stepId: text("step_id").notNull(),
    outcome: oneOf(callStates)("outcome").notNull(),
    /** What may be told without its words: of a job's call the outcome. Also all of it where a version before 0.2 wrote it. */
    message: text("message").notNull(),
    /** The message, sealed: it may quote arguments, or the app. Null when there is none, or `message` has it. */
    sealedMessage: bytes("sealed_message"),
    providerStatus: integer("provider_status").notNull(),
    /** Of tool, account and arguments (`confirm` apart) in canonical form, keyed by vault and project: HMAC-SHA-256. */
    argumentsDigest: bytes("arguments_digest").notNull(),
    /** Sealed JSON text; sensitive values were masked before. */
    arguments: bytes("arguments").notNull(),
    /** Sealed JSON text, its first 64 KiB; sensitive values were masked before. Null when there is none. */
    result: bytes("result"),
    isTruncated: boolean("is_truncated").notNull(),
    isSandbox: boolean("is_sandbox").notNull(),
    /** The caller's key, while it binds: repeats answer what `replay` holds. */
    idempotencyKey: text("idempotency_key"),
    /** Sealed answer for repeats, with nothing masked; only of calls that carry a key. */
    replay: bytes("replay"),
    createdAt: time("created_at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    providerMs: integer("provider_ms").notNull(),
  },
  (table) => [
    index("tool_calls_project").on(table.projectId, table.id),
    index("tool_calls_tool").on(table.projectId, table.toolSlug, table.id),
    index("tool_calls_entity").on(table.projectId, table.entityId, table.id),
    // Of the few that went wrong. What runs stays out: a write would be entered first and taken out again, and few run at once.
    index("tool_calls_outcome")
      .on(table.projectId, table.outcome, table.id)
      .where(sql`outcome <> 'ok' and outcome <> 'running'`),
    index("tool_calls_running").on(table.createdAt).where(sql`outcome = 'running'`),
    uniqueIndex("tool_calls_idempotency_key")
      .on(table.projectId, table.idempotencyKey)
      .where(sql`idempotency_key is not null`),
  ],
);
