import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, smallint, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { accessClasses, callStates } from "./words.ts";

/**
 * The ledger: one row a call of a tool, also of calls that were held or refused. A write is entered before it is sent, and its end
 * changes no column that an index names unless it went wrong: the row is written once and changed in its page, and its five index
 * entries are made once.
 */
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
    /** The outcome of a call that went wrong; null of one that runs or ended well, so that its end changes nothing that is indexed. */
    failure: oneOf(callStates)("failure"),
  },
  (table) => [
    // Calls that run or ended well, and those that went wrong, stand apart: each list is merged from both. An index that names the
    // outcome of the former would be named by every end of a call. No two begin with the same column, or plans would take one for
    // the other.
    index("tool_calls_project").on(table.projectId, table.id).where(sql`failure is null`),
    index("tool_calls_tool").on(table.toolSlug, table.projectId, table.id).where(sql`failure is null`),
    index("tool_calls_entity")
      .on(table.entityId, table.projectId, table.toolSlug, table.id)
      .where(sql`failure is null`),
    index("tool_calls_failure").on(table.failure, table.projectId, table.id).where(sql`failure is not null`),
    index("tool_calls_tool_failure")
      .on(table.toolSlug, table.projectId, table.failure, table.id)
      .where(sql`failure is not null`),
    index("tool_calls_entity_failure")
      .on(table.entityId, table.projectId, table.toolSlug, table.failure, table.id)
      .where(sql`failure is not null`),
    uniqueIndex("tool_calls_idempotency_key")
      .on(table.projectId, table.idempotencyKey)
      .where(sql`idempotency_key is not null`),
  ],
);

/** One row: how far the ledger was searched for calls whose node is gone. */
export const ledgerState = pgTable("ledger_state", {
  id: smallint("id").primaryKey(),
  /** No call before this one runs. */
  settledBefore: idColumn("call")("settled_before").notNull(),
});
