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

/**
 * Programs of jobs, each with its pins: the definitions of tools and skills that the program was checked with and runs on. Jobs of a project
 * share a row if their program and its pins are equal.
 */
export const jobPrograms = pgTable(
  "job_programs",
  {
    projectId: project(),
    /** SHA-256 of the program and its pins (the definitions of tools and skills on which the program runs). */
    digest: bytes("digest").notNull(),
    /** The program as submitted, in rows of versions before 0.2. Null in newer rows. */
    program: text("program"),
    /**
     * The program as submitted. It is encrypted for the context `<project>/job_programs/<digest>`, and cannot be decrypted for any other.
     * Null if the column `program` contains the program.
     */
    sealedProgram: bytes("sealed_program"),
    programHash: text("program_hash").notNull(),
    /**
     * The pinned definitions as JSON text: the definitions of the program's tools, as they were when the program was stored. The program
     * runs on these definitions.
     */
    pins: text("pins").notNull(),
  },
  (table) => [primaryKey({ name: "job_programs_key", columns: [table.projectId, table.digest] })],
);

/** Jobs: each is one run of one program. packages/jobs defines the statuses and their transitions. */
export const jobs = pgTable(
  "jobs",
  {
    id: idColumn("job")("id").primaryKey(),
    projectId: project(),
    status: oneOf(jobStatuses)("status").notNull(),
    mode: oneOf(jobModes)("mode").notNull(),
    /**
     * For a simulation run that was requested with `simulateFirst`: the live job before which svc made this simulation run. Null for all
     * other jobs.
     */
    simulatedFrom: idColumn("job")("simulated_from"),
    skillSlug: text("skill_slug").notNull().default(""),
    /** The parent job that runs this job as a skill; null for a submitted job. */
    parentJobId: idColumn("job")("parent_job_id"),
    /**
     * Key by which the parent job finds this child job again, unique among the parent's children. It is made from the step, the row, the
     * call and the number of the attempt. Null for a job that a caller submitted.
     */
    childKey: text("child_key"),
    child: document(childDocument)("child"),
    standingProgramId: text("standing_program_id").notNull().default(""),
    /**
     * The run of a standing program (which starts jobs on a schedule or event) that started this job; null if no standing program started
     * it.
     */
    standingRunId: idColumn("srn")("standing_run_id"),
    /**
     * Seed of the idempotency keys of the job's calls to apps, used instead of the job's id. All jobs that a schedule starts for the same
     * time or event have the same seed. Null if no schedule started the job.
     */
    callSeed: bytes("call_seed"),
    programDigest: bytes("program_digest").notNull(),
    /** The input that a skill's caller gave, as sealed JSON text. Null if the job uses the program's own input. */
    input: bytes("input"),
    /**
     * The parameters of the program, with the changes that people made when they answered questions. Only in rows of versions before 0.2;
     * empty in newer rows.
     */
    params: document(paramsDocument)("params").notNull(),
    /**
     * Arguments of steps that people changed when they answered questions of the job, by step id. Only versions before 0.2 wrote this
     * column; it is empty in newer rows.
     */
    stepArgs: document(stepArgsDocument)("step_args").notNull(),
    /**
     * Program params and step arguments (by step id) that people changed when they answered questions. The value is sealed (encrypted).
     * Null if no answer changed anything.
     */
    overrides: bytes("overrides"),
    /**
     * Number that grows when steps of the job run again after a person's decision. It is a part of the keys by which repeated calls are
     * recognized, so calls of the new run are not taken for repeats.
     */
    generation: integer("generation").notNull().default(1),
    /**
     * Position of the next step to run. It is the index in the list of all steps of the program, in which inner steps follow the step that
     * contains them.
     */
    position: integer("position").notNull().default(0),
    /**
     * Sealed state of the current step, for example the page token from which it continues. Empty bytes, which need no encryption, if the
     * step has just begun and nothing else is in progress. Null if no step has begun.
     */
    progress: bytes("progress"),
    keyId: idColumn("key")("key_id").notNull(),
    /** Scope of the key that submitted the job. It also limits all attempts and child jobs. Null for no limit. */
    binding: document(jobBindingDocument)("binding"),
    /**
     * The keys and programs that caused the job, in order (for example the key, then the schedule). Empty if only the job's own key caused
     * it, as for most jobs.
     */
    principalChain: text("principal_chain").array().notNull(),
    /** Number of the current attempt, from 1. RetryJob begins the next attempt. `job_attempts` contains the earlier attempts. */
    attempt: integer("attempt").notNull().default(1),
    /** The key that began this attempt. Null for the first attempt, which began with the submission. */
    attemptKeyId: idColumn("key")("attempt_key_id"),
    idempotencyKey: text("idempotency_key"),
    /**
     * SHA-256 of the content of the request that submitted the job. A later submission with the same idempotency key must have the same
     * content; otherwise svc refuses it.
     */
    contentDigest: bytes("content_digest").notNull(),
    planApprovalId: text("plan_approval_id").notNull().default(""),
    estimate: document(estimateDocument)("estimate").notNull(),
    park: document(parkDocument)("park"),
    used: document(usedDocument)("used").notNull(),
    saga: document(sagaDocument)("saga").notNull(),
    /** The job's deadline. Null while the clock is stopped; `deadlineLeftMs` then has the remaining time. */
    deadlineAt: time("deadline_at"),
    deadlineLeftMs: bigint("deadline_left_ms", { mode: "number" }),
    cancelRequestedAt: time("cancel_requested_at"),
    cancelChain: text("cancel_chain").array(),
    /** When a caller requested a pause. Null if there is no request, and after the job's end. */
    pausedAt: time("paused_at"),
    pauseChain: text("pause_chain").array(),
    lastError: text("last_error").notNull().default(""),
    receipt: document(receiptDocument)("receipt"),
    lastSeq: integer("last_seq").notNull().default(0),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    finishedAt: time("finished_at"),
    /** How often the job blocked a node's event loop for too long, counted since its submission or its last release. */
    loopHolds: integer("loop_holds").notNull().default(0),
    /** Number of answers that were refused because the job had no pending question when they arrived. */
    refusedAnswers: integer("refused_answers").notNull().default(0),
    /**
     * Set if the job was restored from a backup and the original database may have continued it (see the table `restores`). The value is
     * the time at which the backup ended. Null for most jobs.
     */
    restoredFrom: time("restored_from"),
    /** True if some of the rows (records that the job processed) have been deleted. */
    hasLostRows: boolean("has_lost_rows").notNull().default(false),
    /** True if all of the job's rows are deleted, which happens some days after its end. */
    isSwept: boolean("is_swept").notNull().default(false),
    /** The span that stored the job, as a W3C `traceparent`. Its runs continue this trace. Null if the node made no spans. */
    traceparent: text("traceparent"),
  },
  (table) => [
    // Lists merge the statuses, so one index serves lists of one status and lists of all statuses. Child jobs have a separate index, and so
    // have jobs that are listed only on request. In a shared index, a list could have to skip any number of them.
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
    // Indexes for lists that contain few jobs. A scan of all jobs would rarely find these jobs. svc reads such a list separately for each
    // status and each mode, and merges the results. Of the columns of these indexes only the status changes, and the indexes above contain
    // the status too.
    index("jobs_skill")
      .on(table.projectId, table.skillSlug, table.mode, table.status, table.id)
      .where(sql`skill_slug <> ''`),
    index("jobs_standing")
      .on(table.projectId, table.standingProgramId, table.mode, table.status, table.id)
      .where(sql`standing_program_id <> ''`),
    index("jobs_rehearsals").on(table.projectId, table.status, table.id).where(sql`mode = 'rehearse'`),
    // The index begins with the status, not with the job. jobs_child_key already begins with the job, and PostgreSQL's planner confuses
    // indexes with the same first column.
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

/** Earlier attempts of jobs. Each row has the result of an attempt and the key that began the next attempt. */
export const jobAttempts = pgTable(
  "job_attempts",
  {
    jobId: job(),
    /** Number of the attempt, from 1. */
    attempt: integer("attempt").notNull(),
    status: oneOf(jobStatuses)("status").notNull(),
    lastError: text("last_error").notNull(),
    receipt: document(attemptReceiptDocument)("receipt").notNull(),
    finishedAt: time("finished_at").notNull(),
    /** When RetryJob began the next attempt. `retryKeyId`: the key that called RetryJob. */
    retriedAt: time("retried_at").notNull(),
    retryKeyId: idColumn("key")("retry_key_id").notNull(),
    /** The idempotency key of the RetryJob call; null if the call had none. */
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of the request content that belongs to the idempotency key. */
    contentDigest: bytes("content_digest").notNull(),
  },
  (table) => [primaryKey({ name: "job_attempts_key", columns: [table.jobId, table.attempt] })],
);

/** Results of the steps of jobs, one row for each step, in the order in which the steps of a job began. */
export const jobSteps = pgTable(
  "job_steps",
  {
    jobId: job(),
    stepId: text("step_id").notNull(),
    ordinal: integer("ordinal").notNull(),
    /** Summary of what the step has done up to now: state, times, numbers of calls and rows. */
    receipt: document(stepReceiptDocument)("receipt").notNull(),
    /** Output of the step, `steps.<id>` in expressions, as sealed JSON text. Null if the step has no output. */
    output: bytes("output"),
  },
  (table) => [primaryKey({ name: "job_steps_key", columns: [table.jobId, table.stepId] })],
);

/** The fields of rows that a job keeps while it runs, encrypted. No API call returns them. */
export const jobRows = pgTable(
  "job_rows",
  {
    jobId: job(),
    /** Number of the row, from 1, counted over all row sets of the job. */
    rowNumber: integer("row_number").notNull(),
    data: bytes("data").notNull(),
  },
  (table) => [primaryKey({ name: "job_rows_key", columns: [table.jobId, table.rowNumber] })],
);

/**
 * The rows of a job's sets (lists of rows). For each row of a set: its position, its state, and the results of its tool calls in the step
 * that made the set.
 */
export const jobSetRows = pgTable(
  "job_set_rows",
  {
    jobId: job(),
    /** Id of the set (a list of rows). It is equal to the id of the job's step that made the set. */
    setId: text("set_id").notNull(),
    /** Position of the row in its set, from 0. */
    ordinal: integer("ordinal").notNull(),
    rowNumber: integer("row_number").notNull(),
    state: oneOf(setRowStates)("state").notNull(),
    /** Number of calls in the field `do` that have succeeded for this row, if the step is a map (a step that makes calls for each row). */
    doneCalls: integer("done_calls").notNull().default(0),
    /**
     * Outputs of the row's successful calls, as encrypted JSON text, by call id. These are the calls in the field `do` of a map. Null if
     * the row has no outputs, or if its outputs are no longer needed.
     */
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

/**
 * Undo entries: each describes how to undo one successful call. The entry is stored in the transaction that stores the call's success.
 * Entries are undone in descending order of `entry`.
 */
export const jobUndoEntries = pgTable(
  "job_undo_entries",
  {
    jobId: job(),
    /** Number of this undo entry in its job, from 1. */
    entry: integer("entry").notNull(),
    stepId: text("step_id").notNull(),
    /** Position of the call's row in its set (the list of rows that a step made); 0 if the step processes no rows. */
    ordinal: integer("ordinal").notNull(),
    toolSlug: text("tool_slug").notNull(),
    entityId: text("entity_id").notNull(),
    /** Arguments with which svc calls the tool to undo the step's call, as encrypted JSON text. */
    args: bytes("args").notNull(),
    state: oneOf(undoStates)("state").notNull(),
  },
  (table) => [primaryKey({ name: "job_undo_entries_key", columns: [table.jobId, table.entry] })],
);

/**
 * Due work of jobs. A row is deleted in the transaction that completes its work, so an idle deployment has no rows. No index contains a
 * lease column (the node that holds a task, and until when). So taking a task is a HOT update (it changes no index).
 */
export const jobTasks = pgTable(
  "job_tasks",
  {
    jobId: job(),
    kind: oneOf(jobTaskKinds)("kind").notNull(),
    /**
     * Subject of the task within its job: `<ask id>`, or `<ask id>/<hop>` for one hop (a stage of the escalation). Empty if the task has no
     * subject.
     */
    subject: text("subject").notNull(),
    projectId: project(),
    dueAt: time("due_at").notNull(),
    attempt: integer("attempt").notNull().default(0),
    /**
     * Number of leases (a node's time-limited rights to the task) that expired before the work was done, counted since the job last made
     * progress.
     */
    losses: integer("losses").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /**
     * A number that grows each time a node takes the task. A write with an older number is refused, because its node no longer holds the
     * task.
     */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  (table) => [
    primaryKey({ name: "job_tasks_key", columns: [table.jobId, table.kind, table.subject] }),
    index("job_tasks_due").on(table.dueAt, table.projectId),
  ],
);

/**
 * Logs of jobs. Entries are numbered from 1 without gaps; each transaction takes its numbers from the job's row. A row has one entry, or
 * several entries that were written together. `seq` is the number of the row's first entry.
 */
export const jobEvents = pgTable(
  "job_events",
  {
    jobId: job(),
    seq: integer("seq").notNull(),
    type: text("type").notNull(),
    stepId: text("step_id").notNull(),
    at: time("at").notNull(),
    /** Details of the log entry, as JSON text of at most 4 KB. Never contains data of the job's rows. */
    payload: text("payload").notNull(),
    /** The keys and programs that caused this log entry, in order. Null if they are the same as those that caused the job. */
    principalChain: text("principal_chain").array(),
    /** Further entries of the job's log that were written together with this entry. Null if the entry was written alone. */
    following: document(logEntriesDocument)("following"),
  },
  (table) => [primaryKey({ name: "job_events_key", columns: [table.jobId, table.seq] })],
);

/** Questions of jobs to people. One conditional update stores the answer, so of several answers only the first counts. */
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
    /** The answer that svc applies if the last asked person has not answered by the deadline. Empty if the question has no such answer. */
    defaultContinuation: oneOf(["", ...askContinuations])("default_continuation").notNull(),
    counts: document(askCountsDocument)("counts"),
    hopIndex: integer("hop_index").notNull(),
    principalId: text("principal_id").notNull(),
    deliveredPrincipals: text("delivered_principals").array().notNull(),
    deadlineAt: time("deadline_at"),
    exhausted: boolean("exhausted").notNull().default(false),
    approvalId: text("approval_id").notNull().default(""),
    /** Key that submitted the job which waits for the answer. If the question is an approval, only this key may answer it. */
    keyId: idColumn("key")("key_id").notNull(),
    toolSlug: text("tool_slug").notNull().default(""),
    entityId: text("entity_id").notNull().default(""),
    toolCallId: text("tool_call_id").notNull().default(""),
    deliveredAt: time("delivered_at"),
    standingProgramId: text("standing_program_id").notNull().default(""),
    /** Ids of the events that sent the question to the project's endpoints: one for each hop (a stage of the escalation). */
    eventIds: text("event_ids").array().$type<EventId[]>().notNull().default([]),
    refusedAnswers: integer("refused_answers").notNull().default(0),
    askedAt: time("asked_at").notNull(),
    /**
     * The answer to the question, as it is displayed. The new values in it (overrides) are masked if the answer schema marks them as
     * sensitive.
     */
    decision: document(askDecisionDocument)("decision"),
    /**
     * The new values (overrides) that the answer to the question contains, not masked. They are encrypted for the context
     * `<project>/job_asks/<id>`, and cannot be decrypted for any other. Null if `decision` contains them.
     */
    overrides: bytes("overrides"),
  },
  (table) => [
    index("job_asks_project").on(table.projectId, table.id),
    index("job_asks_job").on(table.jobId, table.id),
    // The indexes use expressions (`state || ' '`), so that PostgreSQL uses each of them only for the list that names the same expression.
    index("job_asks_state").on(sql`(state || ' ')`, table.projectId, table.id),
    index("job_asks_principal").on(sql`(principal_id || ' ')`, table.projectId, table.id),
    index("job_asks_principal_state").on(sql`(state || ' ' || principal_id)`, table.projectId, table.id),
    index("job_asks_standing")
      .on(table.projectId, table.standingProgramId, table.id)
      .where(sql`standing_program_id <> ''`),
    uniqueIndex("job_asks_pending").on(table.jobId).where(sql`state = 'pending'`),
  ],
);

/** Contacts: people of a project whom jobs may ask. */
export const contacts = pgTable(
  "contacts",
  {
    projectId: project(),
    principalId: text("principal_id").notNull(),
    name: text("name").notNull(),
    isApprover: boolean("is_approver").notNull(),
    /** The tool call that sends questions to the contact. Null if the contact has none. */
    reach: document(contactChannelDocument)("reach"),
    createdAt: time("created_at").notNull(),
    /**
     * The key that created the contact. While this key is valid, svc may send the contact links to answer questions. Null if the contact
     * was created without a key, or before links existed.
     */
    keyId: idColumn("key")("key_id"),
  },
  (table) => [primaryKey({ name: "contacts_key", columns: [table.projectId, table.principalId] })],
);

/** Skills: each is a version of a program that a project promoted to the tool `skills.<slug>`. */
export const skills = pgTable(
  "skills",
  {
    projectId: project(),
    slug: text("slug").notNull(),
    /** Number of this version of the skill, from 1. The number of a deleted version is never used again. */
    version: integer("version").notNull().default(1),
    description: text("description").notNull(),
    jobId: job(),
    programDigest: bytes("program_digest").notNull(),
    accessClass: oneOf(accessClasses)("access_class").notNull(),
    /**
     * The program's inputSchema as JSON text. Null in rows whose program is stored unencrypted, because svc then reads the schema from the
     * program.
     */
    inputSchema: text("input_schema"),
    createdAt: time("created_at").notNull(),
    /** When this version of the skill was deleted. The row stays, so that the version number is never reused. */
    deletedAt: time("deleted_at"),
  },
  (table) => [primaryKey({ name: "skills_key", columns: [table.projectId, table.slug, table.version] })],
);
