import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, primaryKey, smallint, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { PaceDocument } from "../documents/calls.ts";
import { asWritten, documentType } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { accessClasses, callStates, hookDecisions, hookPhases, type StoredAccessClass } from "./words.ts";

/** How `call_paces.pace` is stored. */
const callPaceDocument = documentType<PaceDocument>("call_paces.pace", [asWritten]);

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
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull(),
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
