import type { EventId } from "@svc/core";
import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { askCountsDocument, contactChannelDocument, escalationDocument } from "../documents/asks.ts";
import { jobBindingDocument } from "../documents/calls.ts";
import {
  attemptReceiptDocument,
  childDocument,
  parkDocument,
  receiptDocument,
  usedDocument,
} from "../documents/jobs.ts";
import { logEntriesDocument } from "../documents/log-entries.ts";
import {
  askDecisionDocument,
  estimateDocument,
  paramsDocument,
  sagaDocument,
  stepArgsDocument,
} from "../documents/programs.ts";
import { stepReceiptDocument } from "../documents/step-receipt.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import {
  accessClasses,
  askContinuations,
  askKinds,
  askStates,
  jobModes,
  jobStatuses,
  jobTaskKinds,
  setRowStates,
  undoStates,
} from "./words.ts";

const project = () =>
  idColumn("prj")("project_id")
    .notNull()
    .references(() => projects.id);
const job = () => idColumn("job")("job_id").notNull();

/** A program with the definitions it runs on, pinned by content. Jobs with the same content share a row. */
export const jobPrograms = pgTable(
  "job_programs",
  {
    projectId: project(),
    /** SHA-256 of program and pins. */
    digest: bytes("digest").notNull(),
    /** As submitted, in rows of versions before 0.2; null since then. */
    program: text("program"),
    /** As submitted, sealed for the context `<project>/job_programs/<digest>`; null if `program` has it. */
    sealedProgram: bytes("sealed_program"),
    programHash: text("program_hash").notNull(),
    /** The pinned definitions as JSON text. */
    pins: text("pins").notNull(),
  },
  (table) => [primaryKey({ name: "job_programs_key", columns: [table.projectId, table.digest] })],
);

/** One run of one program. Statuses and their transitions are defined in packages/jobs. */
export const jobs = pgTable(
  "jobs",
  {
    id: idColumn("job")("id").primaryKey(),
    projectId: project(),
    status: oneOf(jobStatuses)("status").notNull(),
    mode: oneOf(jobModes)("mode").notNull(),
    /** The live job that this simulation run was made for by simulateFirst. */
    simulatedFrom: idColumn("job")("simulated_from"),
    skillSlug: text("skill_slug").notNull().default(""),
    /** The job that runs it as a skill; null for a submitted job. */
    parentJobId: idColumn("job")("parent_job_id"),
    /** Identifies it among that job's children by step, row, call and generation, uniquely. Null for a submitted job. */
    childKey: text("child_key"),
    child: document(childDocument)("child"),
    standingProgramId: text("standing_program_id").notNull().default(""),
    /** The run of the standing program; null if there is none. */
    standingRunId: idColumn("srn")("standing_run_id"),
    /** Seed of the idempotency keys of its calls to apps, used instead of its id. Equal for all jobs of one occurrence; null if there is no run. */
    callSeed: bytes("call_seed"),
    programDigest: bytes("program_digest").notNull(),
    /** Sealed JSON text of the input given by a skill's caller; null: the program's own input. */
    input: bytes("input"),
    /** The program's params with the changes of answers, in rows of versions before 0.2; empty since then. */
    params: document(paramsDocument)("params").notNull(),
    /** Step arguments changed by answers, by step id, in rows of versions before 0.2; empty since then. */
    stepArgs: document(stepArgsDocument)("step_args").notNull(),
    /** Sealed: params, and arguments by step id, that answers changed; null if there are none. */
    overrides: bytes("overrides"),
    /** Grows with every rerun, so that calls of an earlier generation do not count as repeats. */
    generation: integer("generation").notNull().default(1),
    /** Index of the step to run next in the program's flat order. */
    position: integer("position").notNull().default(0),
    /** State of the current step, such as the page token to continue from; sealed. */
    progress: bytes("progress"),
    keyId: idColumn("key")("key_id").notNull(),
    /** Scope of the submitting key, which also limits all attempts and children; null for no limit. */
    binding: document(jobBindingDocument)("binding"),
    /** Empty if it is only the key itself, as for most jobs. */
    principalChain: text("principal_chain").array().notNull(),
    /** From 1; RetryJob begins the next one. `job_attempts` has the earlier ones. */
    attempt: integer("attempt").notNull().default(1),
    /** The key that began this attempt; null for the first, which the submission began. */
    attemptKeyId: idColumn("key")("attempt_key_id"),
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of the content that the idempotency key is valid for. */
    contentDigest: bytes("content_digest").notNull(),
    planApprovalId: text("plan_approval_id").notNull().default(""),
    estimate: document(estimateDocument)("estimate").notNull(),
    park: document(parkDocument)("park"),
    used: document(usedDocument)("used").notNull(),
    saga: document(sagaDocument)("saga").notNull(),
    /** Null while the clock is stopped; `deadlineLeftMs` then has the remaining time. */
    deadlineAt: time("deadline_at"),
    deadlineLeftMs: bigint("deadline_left_ms", { mode: "number" }),
    cancelRequestedAt: time("cancel_requested_at"),
    cancelChain: text("cancel_chain").array(),
    /** When a caller requested a pause; null without a request and after the job's end. */
    pausedAt: time("paused_at"),
    pauseChain: text("pause_chain").array(),
    lastError: text("last_error").notNull().default(""),
    receipt: document(receiptDocument)("receipt"),
    lastSeq: integer("last_seq").notNull().default(0),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    finishedAt: time("finished_at"),
    /** How often it blocked a node's event loop for too long, since it was submitted or last released. */
    loopHolds: integer("loop_holds").notNull().default(0),
    /** Refused answers while the job had no question. */
    refusedAnswers: integer("refused_answers").notNull().default(0),
    /** End of the backup that this state comes from, if the original database may have continued the job: see `restores`. Usually null. */
    restoredFrom: time("restored_from"),
    /** True if some of the rows are deleted. */
    hasLostRows: boolean("has_lost_rows").notNull().default(false),
    /** True if all rows are deleted, which happens some days after the end. */
    isSwept: boolean("is_swept").notNull().default(false),
  },
  (table) => [
    // Lists merge the statuses, so one index serves lists of one status and of all. Child jobs, and jobs listed only on request, have
    // separate indexes, because any number of them would otherwise precede the listed ones.
    index("jobs_status")
      .on(table.projectId, table.status, table.id)
      .where(sql`mode = 'live' and parent_job_id is null`),
    index("jobs_other_status")
      .on(table.projectId, table.status, table.id)
      .where(sql`mode <> 'live' or parent_job_id is not null`),
    index("jobs_simulations")
      .on(table.projectId, table.status, table.id)
      .where(sql`mode = 'simulate' and parent_job_id is null and simulated_from is null`),
    index("jobs_twins").on(table.projectId, table.status, table.id).where(sql`simulated_from is not null`),
    // For lists that contain few jobs, which a scan of all jobs would rarely find. They merge statuses, and modes if a list has several. Of
    // their columns only the status changes, and the indexes above contain it too.
    index("jobs_skill")
      .on(table.projectId, table.skillSlug, table.mode, table.status, table.id)
      .where(sql`skill_slug <> ''`),
    index("jobs_standing")
      .on(table.projectId, table.standingProgramId, table.mode, table.status, table.id)
      .where(sql`standing_program_id <> ''`),
    index("jobs_rehearsals").on(table.projectId, table.status, table.id).where(sql`mode = 'rehearse'`),
    // The status leads, because jobs_child_key begins with the job, and plans confuse indexes with the same first column.
    index("jobs_children")
      .on(table.status, table.projectId, table.parentJobId, table.id)
      .where(sql`parent_job_id is not null`),
    uniqueIndex("jobs_child_key").on(table.parentJobId, table.childKey).where(sql`parent_job_id is not null`),
    index("jobs_simulated_from").on(table.simulatedFrom).where(sql`simulated_from is not null`),
    index("jobs_unswept").on(table.finishedAt).where(sql`finished_at is not null and not is_swept`),
    uniqueIndex("jobs_idempotency_key")
      .on(table.projectId, table.idempotencyKey)
      .where(sql`idempotency_key is not null`),
  ],
);

/** An attempt at a job that ended and was followed by another: its result, and the caller that began the next one. */
export const jobAttempts = pgTable(
  "job_attempts",
  {
    jobId: job(),
    /** From 1. */
    attempt: integer("attempt").notNull(),
    status: oneOf(jobStatuses)("status").notNull(),
    lastError: text("last_error").notNull(),
    receipt: document(attemptReceiptDocument)("receipt").notNull(),
    finishedAt: time("finished_at").notNull(),
    /** When RetryJob began the next attempt, and with which key. */
    retriedAt: time("retried_at").notNull(),
    retryKeyId: idColumn("key")("retry_key_id").notNull(),
    /** The idempotency key of that call; null for none. */
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of the content that the idempotency key is valid for. */
    contentDigest: bytes("content_digest").notNull(),
  },
  (table) => [primaryKey({ name: "job_attempts_key", columns: [table.jobId, table.attempt] })],
);

/** Result of a step, in the order the steps began. */
export const jobSteps = pgTable(
  "job_steps",
  {
    jobId: job(),
    stepId: text("step_id").notNull(),
    ordinal: integer("ordinal").notNull(),
    /** The receipt so far. */
    receipt: document(stepReceiptDocument)("receipt").notNull(),
    /** Sealed JSON text of `steps.<id>`; null if the step has no output. */
    output: bytes("output"),
  },
  (table) => [primaryKey({ name: "job_steps_key", columns: [table.jobId, table.stepId] })],
);

/** The kept fields of a row, sealed. No call returns them. */
export const jobRows = pgTable(
  "job_rows",
  {
    jobId: job(),
    /** From 1, over all row sets of the job. */
    rowNumber: integer("row_number").notNull(),
    data: bytes("data").notNull(),
  },
  (table) => [primaryKey({ name: "job_rows_key", columns: [table.jobId, table.rowNumber] })],
);

/** Rows of a set, and the result of each in the step that made the set. */
export const jobSetRows = pgTable(
  "job_set_rows",
  {
    jobId: job(),
    /** The id of the step. */
    setId: text("set_id").notNull(),
    /** From 0. */
    ordinal: integer("ordinal").notNull(),
    rowNumber: integer("row_number").notNull(),
    state: oneOf(setRowStates)("state").notNull(),
    /** Number of successful `do` calls of a map. */
    doneCalls: integer("done_calls").notNull().default(0),
    /** Sealed JSON text of those calls' outputs by call id; null if there are none or they are no longer needed. */
    outputs: bytes("outputs"),
    errorCode: text("error_code").notNull().default(""),
  },
  (table) => [
    primaryKey({ name: "job_set_rows_key", columns: [table.jobId, table.setId, table.ordinal] }),
    index("job_set_rows_state")
      .on(table.jobId, table.setId, table.state, table.ordinal)
      .where(sql`state in ('failed', 'unknown')`),
  ],
);

/** How to undo one successful call; stored in the transaction of its success. Entries are undone from the highest down. */
export const jobUndoEntries = pgTable(
  "job_undo_entries",
  {
    jobId: job(),
    /** From 1. */
    entry: integer("entry").notNull(),
    stepId: text("step_id").notNull(),
    /** Position of the row in its set; 0 for a step without rows. */
    ordinal: integer("ordinal").notNull(),
    toolSlug: text("tool_slug").notNull(),
    entityId: text("entity_id").notNull(),
    /** Sealed JSON text of the final arguments. */
    args: bytes("args").notNull(),
    state: oneOf(undoStates)("state").notNull(),
  },
  (table) => [primaryKey({ name: "job_undo_entries_key", columns: [table.jobId, table.entry] })],
);

/**
 * Due work. A row is deleted in the transaction that completes it; an idle deployment has none. No index has a lease column, so a claim is
 * a HOT update.
 */
export const jobTasks = pgTable(
  "job_tasks",
  {
    jobId: job(),
    kind: oneOf(jobTaskKinds)("kind").notNull(),
    /** Subject of the task within its job: `<ask id>` or `<ask id>/<hop>`; empty for none. */
    subject: text("subject").notNull(),
    projectId: project(),
    dueAt: time("due_at").notNull(),
    attempt: integer("attempt").notNull().default(0),
    /** Leases that expired while held, since the job last made progress. */
    losses: integer("losses").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /** Grows with every claim: writes of an earlier holder are refused. */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  (table) => [
    primaryKey({ name: "job_tasks_key", columns: [table.jobId, table.kind, table.subject] }),
    index("job_tasks_due").on(table.dueAt, table.projectId),
  ],
);

/**
 * A job's log. Entries are numbered from 1 without gaps; the numbers come from the job's row in the same transaction. A row has one entry,
 * or several that were written together; `seq` is the number of the first.
 */
export const jobEvents = pgTable(
  "job_events",
  {
    jobId: job(),
    seq: integer("seq").notNull(),
    type: text("type").notNull(),
    stepId: text("step_id").notNull(),
    at: time("at").notNull(),
    /** JSON text of at most 4 KB, never row data. */
    payload: text("payload").notNull(),
    /** Null if it equals the job's. */
    principalChain: text("principal_chain").array(),
    /** The next entries, if they were written together with it; null for none. */
    following: document(logEntriesDocument)("following"),
  },
  (table) => [primaryKey({ name: "job_events_key", columns: [table.jobId, table.seq] })],
);

/** A question to people. One conditional update settles it, so only the first answer counts. */
export const jobAsks = pgTable(
  "job_asks",
  {
    id: idColumn("ask")("id").primaryKey(),
    projectId: project(),
    jobId: job(),
    stepId: text("step_id").notNull(),
    pointId: text("point_id").notNull(),
    kind: oneOf(askKinds)("kind").notNull(),
    state: oneOf(askStates)("state").notNull(),
    question: text("question").notNull(),
    continuations: oneOf(askContinuations)("continuations").array().notNull(),
    answerSchema: text("answer_schema").notNull(),
    escalation: document(escalationDocument)("escalation").notNull(),
    /** Continuation applied by the deadline after the last hop; empty for none. */
    defaultContinuation: oneOf(["", ...askContinuations])("default_continuation").notNull(),
    counts: document(askCountsDocument)("counts"),
    hopIndex: integer("hop_index").notNull(),
    principalId: text("principal_id").notNull(),
    deliveredPrincipals: text("delivered_principals").array().notNull(),
    deadlineAt: time("deadline_at"),
    exhausted: boolean("exhausted").notNull().default(false),
    approvalId: text("approval_id").notNull().default(""),
    /** Key whose plan waits for the answer: for an approval, the only key that may answer. */
    keyId: idColumn("key")("key_id").notNull(),
    toolSlug: text("tool_slug").notNull().default(""),
    entityId: text("entity_id").notNull().default(""),
    toolCallId: text("tool_call_id").notNull().default(""),
    deliveredAt: time("delivered_at"),
    standingProgramId: text("standing_program_id").notNull().default(""),
    /** Ids of the events that published it, one per hop. */
    eventIds: text("event_ids").array().$type<EventId[]>().notNull().default([]),
    refusedAnswers: integer("refused_answers").notNull().default(0),
    askedAt: time("asked_at").notNull(),
    /** As displayed: values in its overrides that the answer schema marks as sensitive are masked. */
    decision: document(askDecisionDocument)("decision"),
    /** The overrides as answered, sealed for the context `<project>/job_asks/<id>`; null if the decision has them. */
    overrides: bytes("overrides"),
  },
  (table) => [
    index("job_asks_project").on(table.projectId, table.id),
    index("job_asks_job").on(table.jobId, table.id),
    // Indexes on expressions, so that only the list written for them is planned with them.
    index("job_asks_state").on(sql`(state || ' ')`, table.projectId, table.id),
    index("job_asks_principal").on(sql`(principal_id || ' ')`, table.projectId, table.id),
    index("job_asks_principal_state").on(sql`(state || ' ' || principal_id)`, table.projectId, table.id),
    index("job_asks_standing")
      .on(table.projectId, table.standingProgramId, table.id)
      .where(sql`standing_program_id <> ''`),
    uniqueIndex("job_asks_pending").on(table.jobId).where(sql`state = 'pending'`),
  ],
);

/** A person of a project whom jobs may ask. */
export const contacts = pgTable(
  "contacts",
  {
    projectId: project(),
    principalId: text("principal_id").notNull(),
    name: text("name").notNull(),
    isApprover: boolean("is_approver").notNull(),
    /** Contact channel: tool, entity and argument template; null for none. */
    reach: document(contactChannelDocument)("reach"),
    createdAt: time("created_at").notNull(),
    /**
     * The key that created it; links sent to the contact rely on this key. Null for contacts from before links, and for those created
     * without a key.
     */
    keyId: idColumn("key")("key_id"),
  },
  (table) => [primaryKey({ name: "contacts_key", columns: [table.projectId, table.principalId] })],
);

/** A version of a program that a project promoted to a tool, `skills.<slug>`. */
export const skills = pgTable(
  "skills",
  {
    projectId: project(),
    slug: text("slug").notNull(),
    /** From 1; a number is never reused. */
    version: integer("version").notNull().default(1),
    description: text("description").notNull(),
    jobId: job(),
    programDigest: bytes("program_digest").notNull(),
    accessClass: oneOf(accessClasses)("access_class").notNull(),
    /** JSON text of the program's inputSchema; null if the unsealed program contains it. */
    inputSchema: text("input_schema"),
    createdAt: time("created_at").notNull(),
    /** A deleted version stays here, so that its number is never reused. */
    deletedAt: time("deleted_at"),
  },
  (table) => [primaryKey({ name: "skills_key", columns: [table.projectId, table.slug, table.version] })],
);
