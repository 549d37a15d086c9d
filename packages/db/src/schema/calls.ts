import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, primaryKey, smallint, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { PaceDocument } from "../documents/calls.ts";
import { asWritten, documentType } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { accessClasses, callStates, hookDecisions, hookPhases, type StoredAccessClass } from "./words.ts";

/**
 * Reads and writes the JSON of the column `call_paces.pace`: the usage of one call limit by all nodes (running calls, waiting calls, recent
 * calls).
 */
const callPaceDocument = documentType<PaceDocument>("call_paces.pace", [asWritten]);

/**
 * The ledger: one row per tool call. Calls that were refused or that wait for a confirmation have a row, too. The row of a write is stored
 * before svc sends the write.
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
    /**
     * Message about the call's outcome, without sensitive content. For a call of a job, it is only the name of the outcome. Rows of
     * versions before 0.2 have the whole message here.
     */
    message: text("message").notNull(),
    /** The sealed message, which may quote arguments or the app. Null if the call has no message, or if `message` contains it. */
    sealedMessage: bytes("sealed_message"),
    providerStatus: integer("provider_status").notNull(),
    /** HMAC-SHA-256 of tool, account and arguments (without `confirm`) in canonical form. Its key depends on the vault and the project. */
    argumentsDigest: bytes("arguments_digest").notNull(),
    /** Arguments as sealed JSON text, with sensitive values masked. */
    arguments: bytes("arguments").notNull(),
    /**
     * Result as sealed JSON text, of which only the first 64 KiB are stored, with sensitive values masked. Null if the call has no result.
     */
    result: bytes("result"),
    isTruncated: boolean("is_truncated").notNull(),
    isSandbox: boolean("is_sandbox").notNull(),
    /** The caller's idempotency key while it is valid. A repeated call with this key gets the answer that is stored in `replay`. */
    idempotencyKey: text("idempotency_key"),
    /**
     * Sealed answer that svc returns if the call is repeated with its idempotency key. Its values are not masked. Empty if `result` is the
     * same answer: nothing in it was masked or cut. Null for calls without an idempotency key.
     */
    replay: bytes("replay"),
    createdAt: time("created_at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    providerMs: integer("provider_ms").notNull(),
    /**
     * Outcome of a failed call. Null while the call runs and after its success. The indexes use this column and not the call's state, so
     * the end of a successful call changes no index.
     */
    failure: oneOf(callStates)("failure"),
  },
  (table) => [
    // Failed calls have indexes of their own, and so have calls that run or succeeded. Each list merges both kinds of index. An index on
    // the outcome of running calls would be updated at every end of a call. No two indexes begin with the same column, because PostgreSQL's
    // planner would confuse them.
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

/**
 * Progress of the search for calls whose node died before they ended. The search ends such calls in the ledger (the stored record of every
 * tool call). The table has one row.
 */
export const ledgerState = pgTable("ledger_state", {
  id: smallint("id").primaryKey(),
  /** An id of a tool call: all calls with a lower id have ended. So the search for calls of dead nodes begins here. */
  settledBefore: idColumn("call")("settled_before").notNull(),
});

/**
 * Limits that a project sets for its own calls, so that its calls do not overload an app. Nodes read a project's limits every half second.
 */
export const callLimits = pgTable(
  "call_limits",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    name: text("name").notNull(),
    /** Toolkit (app) whose calls are limited; empty for all toolkits. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** CEL expression that computes the limiter key of a call. Calls with equal keys share the limit. Empty: all calls share the limit. */
    keyExpression: text("key_expression").notNull(),
    /** Maximum number of calls with the same limiter key that may run at once. 0 means that their number is not limited. */
    concurrency: integer("concurrency").notNull(),
    /**
     * Maximum number of calls with the same limiter key that may start within any period of `rate_per_ms` milliseconds. 0 means that their
     * rate is not limited.
     */
    rateMax: integer("rate_max").notNull(),
    ratePerMs: bigint("rate_per_ms", { mode: "number" }).notNull(),
    isPaused: boolean("is_paused").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ name: "call_limits_key", columns: [table.projectId, table.name] })],
);

/**
 * Use of the call limits: one row for each limit and key, shared by all nodes. Calls with the same key, for example calls of one account,
 * are counted together. After `expiresAt`, a row counts as missing.
 */
export const callPaces = pgTable(
  "call_paces",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** Name of the call limit: a limit of the project, or a rate that the definition of an app (toolkit) declares. */
    limitName: text("limit_name").notNull(),
    key: text("key").notNull(),
    pace: document(callPaceDocument)("pace").notNull(),
    /** A text that is different after every write of the row. A node uses it to notice that another node has changed the row. */
    revision: text("revision").notNull(),
    /** The value of `revision` before the last write of the row. Empty if that write created the row. */
    madeFrom: text("made_from").notNull(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ name: "call_paces_key", columns: [table.projectId, table.limitName, table.key] }),
    index("call_paces_expires").on(table.expiresAt),
  ],
);

/**
 * Hooks: endpoints of a project that svc asks about a tool call, before or after sending the call. Nodes read a project's hooks every half
 * second.
 */
export const callHooks = pgTable(
  "call_hooks",
  {
    id: idColumn("hok")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    phase: oneOf(hookPhases)("phase").notNull(),
    endpointUrl: text("endpoint_url").notNull(),
    /** Secret with which svc signs its questions to this hook (an endpoint that checks tool calls). It is stored sealed (encrypted). */
    signingSecret: bytes("signing_secret").notNull(),
    /**
     * Toolkits (apps) whose tool calls svc asks this hook (an endpoint that checks tool calls) about; empty for all toolkits.
     * `accessClasses` limits the calls by access class in the same way.
     */
    toolkitSlugs: text("toolkit_slugs").array().notNull(),
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull(),
    /**
     * Order in which svc asks the hooks (endpoints that check tool calls) of one phase. Hooks with equal positions are asked in the order
     * of their ids.
     */
    position: integer("position").notNull(),
    isActive: boolean("is_active").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [uniqueIndex("call_hooks_project").on(table.projectId, table.id)],
);

/**
 * The decisions of hooks (endpoints that check tool calls) about calls, for the ledger (record of calls). If a call has an idempotency key,
 * the approval or edit of a `before` hook also applies to repeats of the call. The decision is committed before anything is sent. So a call
 * that is repeated after a crash has the same arguments.
 */
export const hookAnswers = pgTable(
  "hook_answers",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    callId: idColumn("call")("call_id").notNull(),
    hookId: idColumn("hok")("hook_id").notNull(),
    /** The entity (customer or user) of the tool call. */
    entityId: text("entity_id").notNull(),
    /**
     * Idempotency key of the tool call, if the decision of the hook (an endpoint that checks tool calls) also applies to later calls with
     * the same key. Null otherwise.
     */
    callKey: text("call_key"),
    decision: oneOf(hookDecisions)("decision").notNull(),
    /** Changes that the hook (an endpoint that checks tool calls) made to the arguments, as sealed JSON. */
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
