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
 * The ledger: one row per call of a tool, including held and refused calls. A write is stored before it is sent. The end of a call changes
 * no indexed column unless the call failed. So the row is written once and changed in its page, and its five index entries are made once.
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
    /** Text without sensitive content: for a job's call, the outcome. Rows of versions before 0.2 have the whole message here. */
    message: text("message").notNull(),
    /** The message, sealed, because it may quote arguments or the app. Null if there is none, or if `message` has it. */
    sealedMessage: bytes("sealed_message"),
    providerStatus: integer("provider_status").notNull(),
    /** HMAC-SHA-256 of tool, account and arguments (without `confirm`) in canonical form, keyed by vault and project. */
    argumentsDigest: bytes("arguments_digest").notNull(),
    /** Sealed JSON text, with sensitive values masked. */
    arguments: bytes("arguments").notNull(),
    /** The first 64 KiB of the sealed JSON text, with sensitive values masked. Null if there is none. */
    result: bytes("result"),
    isTruncated: boolean("is_truncated").notNull(),
    isSandbox: boolean("is_sandbox").notNull(),
    /** The caller's idempotency key while it is valid: repeats return `replay`. */
    idempotencyKey: text("idempotency_key"),
    /** Sealed answer for repeats, without masking; only for calls with an idempotency key. */
    replay: bytes("replay"),
    createdAt: time("created_at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    providerMs: integer("provider_ms").notNull(),
    /** The outcome of a failed call; null while it runs or if it succeeded, so that its end changes no indexed column. */
    failure: oneOf(callStates)("failure"),
  },
  (table) => [
    // Calls that run or succeeded, and calls that failed, have separate indexes; each list merges both. An index on the outcome of the
    // former would be updated at every end of a call. No two indexes begin with the same column, or plans would confuse them.
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

/** One row: how far the ledger was searched for calls of dead nodes. */
export const ledgerState = pgTable("ledger_state", {
  id: smallint("id").primaryKey(),
  /** No call before this one is still running. */
  settledBefore: idColumn("call")("settled_before").notNull(),
});

/** Limits that a project sets for its own calls, so that it does not overload an app. Nodes read a project's limits every half second. */
export const callLimits = pgTable(
  "call_limits",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    name: text("name").notNull(),
    /** Empty: calls of every toolkit. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** CEL expression of the limiter key: calls with equal keys count together. Empty: all calls count together. */
    keyExpression: text("key_expression").notNull(),
    /** Maximum concurrent calls; 0 for no limit. */
    concurrency: integer("concurrency").notNull(),
    /** Maximum calls started within any `rate_per_ms`; 0 for no limit. */
    rateMax: integer("rate_max").notNull(),
    ratePerMs: bigint("rate_per_ms", { mode: "number" }).notNull(),
    isPaused: boolean("is_paused").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ name: "call_limits_key", columns: [table.projectId, table.name] })],
);

/**
 * Usage of a limiter key: one row per limit and key, shared by all nodes, written by comparing `revision`. An expired row (`expiresAt`)
 * means the same as a missing row.
 */
export const callPaces = pgTable(
  "call_paces",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** A limit of the project, or the rate of a toolkit. */
    limitName: text("limit_name").notNull(),
    key: text("key").notNull(),
    pace: document(callPaceDocument)("pace").notNull(),
    /** Changes with every write. */
    revision: text("revision").notNull(),
    /** The revision that the last write replaced; empty if there was no row. */
    madeFrom: text("made_from").notNull(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ name: "call_paces_key", columns: [table.projectId, table.limitName, table.key] }),
    index("call_paces_expires").on(table.expiresAt),
  ],
);

/** An endpoint of a project that svc asks about its calls, before or after they are sent. Nodes read a project's hooks every half second. */
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
    /** Toolkits of the calls that the hook is asked about; empty for all. The classes below work the same way. */
    toolkitSlugs: text("toolkit_slugs").array().notNull(),
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull(),
    /** Hooks of one phase are asked in this order, then by id. */
    position: integer("position").notNull(),
    isActive: boolean("is_active").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [uniqueIndex("call_hooks_project").on(table.projectId, table.id)],
);

/**
 * The decision of a hook about a call, for the ledger. If a call has an idempotency key, an approval or edit before sending also applies to
 * its repeats. It is committed before anything is sent, so a call repeated after a crash is the same.
 */
export const hookAnswers = pgTable(
  "hook_answers",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    callId: idColumn("call")("call_id").notNull(),
    hookId: idColumn("hok")("hook_id").notNull(),
    /** The entity whose data an edit may contain. */
    entityId: text("entity_id").notNull(),
    /** The call's idempotency key, if the decision applies to its repeats. */
    callKey: text("call_key"),
    decision: oneOf(hookDecisions)("decision").notNull(),
    /** Sealed JSON of its changes to the arguments. */
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
