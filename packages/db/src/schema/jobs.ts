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

/** A program with the definitions it runs on, pinned by content; jobs of the same content share a row. */
export const jobPrograms = pgTable(
  "job_programs",
  {
    projectId: project(),
    /** SHA-256 of program and pins. */
    digest: bytes("digest").notNull(),
    /** As it was submitted, where a version before 0.2 stored it; null since then. */
    program: text("program"),
    /** As it was submitted, sealed for the context `<project>/job_programs/<digest>`; null where `program` has it. */
    sealedProgram: bytes("sealed_program"),
    programHash: text("program_hash").notNull(),
    /** The pinned definitions as JSON text. */
    pins: text("pins").notNull(),
  },
  (table) => [primaryKey({ name: "job_programs_key", columns: [table.projectId, table.digest] })],
);

/** One run of one program. The meaning of statuses and their transitions stand in packages/jobs. */
export const jobs = pgTable(
  "jobs",
  {
    id: idColumn("job")("id").primaryKey(),
    projectId: project(),
    status: oneOf(jobStatuses)("status").notNull(),
    mode: oneOf(jobModes)("mode").notNull(),
    /** The live job that a twin was made for by simulateFirst. */
    simulatedFrom: idColumn("job")("simulated_from"),
    skillSlug: text("skill_slug").notNull().default(""),
    /** The job that runs it as a skill; null for one that was submitted. */
    parentJobId: idColumn("job")("parent_job_id"),
    /** Which of that job's children it is, by step, row, call and generation: there is one for each. Null for one that was submitted. */
    childKey: text("child_key"),
    child: document(childDocument)("child"),
    standingProgramId: text("standing_program_id").notNull().default(""),
    /** The run of the standing program; null without one. */
    standingRunId: idColumn("srn")("standing_run_id"),
    /** What the keys of its calls at apps are made of in place of its id, the same for every job of one occurrence; null without a run. */
    callSeed: bytes("call_seed"),
    programDigest: bytes("program_digest").notNull(),
    /** Sealed JSON text of the input that a skill's caller gave; null: the program's own. */
    input: bytes("input"),
    /** The program's params, with what answers changed, where a version before 0.2 wrote them; empty since then. */
    params: document(paramsDocument)("params").notNull(),
    /** Arguments of steps that answers changed, by step id, where a version before 0.2 wrote them; empty since then. */
    stepArgs: document(stepArgsDocument)("step_args").notNull(),
    /** Sealed: the params, and the arguments by step id, that answers changed; null while there are none. */
    overrides: bytes("overrides"),
    /** Grows with every rerun: calls of an earlier generation are not repeated as if they were of this one. */
    generation: integer("generation").notNull().default(1),
    /** Index of the step to run next in the program's flat order. */
    position: integer("position").notNull().default(0),
    /** What the engine keeps of the step under way, such as the page token it goes on from; sealed. */
    progress: bytes("progress"),
    keyId: idColumn("key")("key_id").notNull(),
    /** What the key was bound to that submitted it, which every attempt and child of it is bound to; null for nothing. */
    binding: document(jobBindingDocument)("binding"),
    /** Empty where it is the key's own alone, as of most jobs. */
    principalChain: text("principal_chain").array().notNull(),
    /** From 1; RetryJob begins the next one. The ones before stand in `job_attempts`. */
    attempt: integer("attempt").notNull().default(1),
    /** The key that began this attempt; null of the first, which is that of the submission. */
    attemptKeyId: idColumn("key")("attempt_key_id"),
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of what the idempotency key is bound to. */
    contentDigest: bytes("content_digest").notNull(),
    planApprovalId: text("plan_approval_id").notNull().default(""),
    estimate: document(estimateDocument)("estimate").notNull(),
    park: document(parkDocument)("park"),
    used: document(usedDocument)("used").notNull(),
    saga: document(sagaDocument)("saga").notNull(),
    /** Null while the clock stands still; then `deadlineLeftMs` is what was left. */
    deadlineAt: time("deadline_at"),
    deadlineLeftMs: bigint("deadline_left_ms", { mode: "number" }),
    cancelRequestedAt: time("cancel_requested_at"),
    cancelChain: text("cancel_chain").array(),
    /** When somebody asked to pause it; null while it is not to be paused, and once it has ended. */
    pausedAt: time("paused_at"),
    pauseChain: text("pause_chain").array(),
    lastError: text("last_error").notNull().default(""),
    receipt: document(receiptDocument)("receipt"),
    lastSeq: integer("last_seq").notNull().default(0),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    finishedAt: time("finished_at"),
    /** How often it held a node's event loop for too long, since it was submitted or last released. */
    loopHolds: integer("loop_holds").notNull().default(0),
    /** Answers that were refused while it had never asked anything. */
    refusedAnswers: integer("refused_answers").notNull().default(0),
    /**
     * The end of the backup that it stands as of, where the store that the backup was taken of may have gone on with it: see `restores`.
     * Null as a rule.
     */
    restoredFrom: time("restored_from"),
    /** Whether some of the rows are gone. */
    hasLostRows: boolean("has_lost_rows").notNull().default(false),
    /** Whether the rows are gone, which happens some days after the end. */
    isSwept: boolean("is_swept").notNull().default(false),
  },
  (table) => [
    // What is listed is merged from the statuses: one index serves lists of one status and of all. The jobs that others run, and those
    // that are listed only when asked for, stand apart, since any number of them would stand before the ones that a list is about.
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
    // Of the lists that few jobs are in: a scan of all of them would look for one. These are merged from statuses, and from modes where
    // one list has several. Of their columns the status alone changes, which the indexes above name as well.
    index("jobs_skill")
      .on(table.projectId, table.skillSlug, table.mode, table.status, table.id)
      .where(sql`skill_slug <> ''`),
    index("jobs_standing")
      .on(table.projectId, table.standingProgramId, table.mode, table.status, table.id)
      .where(sql`standing_program_id <> ''`),
    index("jobs_rehearsals").on(table.projectId, table.status, table.id).where(sql`mode = 'rehearse'`),
    // The status leads: jobs_child_key begins with the job, and where two begin alike, either is taken for the other.
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

/** An attempt at a job that ended and was followed by another: how it ended, and who began the next one. */
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
    /** When RetryJob began the next one, and with which key. */
    retriedAt: time("retried_at").notNull(),
    retryKeyId: idColumn("key")("retry_key_id").notNull(),
    /** The caller's own name for that call; null for none. */
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of what the idempotency key is bound to. */
    contentDigest: bytes("content_digest").notNull(),
  },
  (table) => [primaryKey({ name: "job_attempts_key", columns: [table.jobId, table.attempt] })],
);

/** What a step did and made; in the order the steps began. */
export const jobSteps = pgTable(
  "job_steps",
  {
    jobId: job(),
    stepId: text("step_id").notNull(),
    ordinal: integer("ordinal").notNull(),
    /** The receipt as far as it is known. */
    receipt: document(stepReceiptDocument)("receipt").notNull(),
    /** Sealed JSON text of `steps.<id>`; null when the step made none. */
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

/** Which rows a set holds, and how each fared in the step that made the set. */
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
    /** The `do` calls of a map that ended well. */
    doneCalls: integer("done_calls").notNull().default(0),
    /** Sealed JSON text of those calls' outputs by call id; null when there are none or none is needed any more. */
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

/** How to undo one call that ended well; recorded in the transaction of that success. Undone from the highest entry down. */
export const jobUndoEntries = pgTable(
  "job_undo_entries",
  {
    jobId: job(),
    /** From 1. */
    entry: integer("entry").notNull(),
    stepId: text("step_id").notNull(),
    /** Of the row in its set; 0 for a step without rows. */
    ordinal: integer("ordinal").notNull(),
    toolSlug: text("tool_slug").notNull(),
    entityId: text("entity_id").notNull(),
    /** Sealed JSON text of the arguments, filled in. */
    args: bytes("args").notNull(),
    state: oneOf(undoStates)("state").notNull(),
  },
  (table) => [primaryKey({ name: "job_undo_entries_key", columns: [table.jobId, table.entry] })],
);

/**
 * Work that is due. A row ends in the transaction that settles it; an idle deployment has none. Lease columns stand in no index:
 * a claim is a HOT update.
 */
export const jobTasks = pgTable(
  "job_tasks",
  {
    jobId: job(),
    kind: oneOf(jobTaskKinds)("kind").notNull(),
    /** What the task is about beyond its job: `<ask id>` or `<ask id>/<hop>`; empty for none. */
    subject: text("subject").notNull(),
    projectId: project(),
    dueAt: time("due_at").notNull(),
    attempt: integer("attempt").notNull().default(0),
    /** Leases that ran out under their holders since the job last got on. */
    losses: integer("losses").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /** Grows with every claim: what an earlier holder still writes is refused. */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  (table) => [
    primaryKey({ name: "job_tasks_key", columns: [table.jobId, table.kind, table.subject] }),
    index("job_tasks_due").on(table.dueAt, table.projectId),
  ],
);

/**
 * A job's log. Entries are numbered without gaps from 1: places are taken from the job's row in the same transaction. A row is one entry,
 * or several that were written together: `seq` is the place of the first.
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
    /** Null where it is the job's own. */
    principalChain: text("principal_chain").array(),
    /** The entries that come next, where they were written with it; null for none. */
    following: document(logEntriesDocument)("following"),
  },
  (table) => [primaryKey({ name: "job_events_key", columns: [table.jobId, table.seq] })],
);

/** A question put to people. Settled by one conditional update, whoever answers. */
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
    /** The continuation that the clock applies when the ladder is over; empty for none. */
    defaultContinuation: oneOf(["", ...askContinuations])("default_continuation").notNull(),
    counts: document(askCountsDocument)("counts"),
    hopIndex: integer("hop_index").notNull(),
    principalId: text("principal_id").notNull(),
    deliveredPrincipals: text("delivered_principals").array().notNull(),
    deadlineAt: time("deadline_at"),
    exhausted: boolean("exhausted").notNull().default(false),
    approvalId: text("approval_id").notNull().default(""),
    /** The key whose plan parked there: of an approval, the only one that may answer. */
    keyId: idColumn("key")("key_id").notNull(),
    toolSlug: text("tool_slug").notNull().default(""),
    entityId: text("entity_id").notNull().default(""),
    toolCallId: text("tool_call_id").notNull().default(""),
    deliveredAt: time("delivered_at"),
    standingProgramId: text("standing_program_id").notNull().default(""),
    /** Ids of the events it was published as, one a hop. */
    eventIds: text("event_ids").array().$type<EventId[]>().notNull().default([]),
    refusedAnswers: integer("refused_answers").notNull().default(0),
    askedAt: time("asked_at").notNull(),
    /** As it is shown: what the answer schema marks as sensitive is masked in its overrides. */
    decision: document(askDecisionDocument)("decision"),
    /** The overrides as they were answered, sealed for the context `<project>/job_asks/<id>`; null where the decision has them. */
    overrides: bytes("overrides"),
  },
  (table) => [
    index("job_asks_project").on(table.projectId, table.id),
    index("job_asks_job").on(table.jobId, table.id),
    // Of expressions, so that no statement but the list that is written for it is planned by one.
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
    /** How to reach them: tool, entity and argument template; null for not at all. */
    reach: document(contactChannelDocument)("reach"),
    createdAt: time("created_at").notNull(),
    /** The key that put it, which vouches for the links that reach it. Null for those of before there were any, and that no key put. */
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
    /** From 1 on; none is ever given out again. */
    version: integer("version").notNull().default(1),
    description: text("description").notNull(),
    jobId: job(),
    programDigest: bytes("program_digest").notNull(),
    accessClass: oneOf(accessClasses)("access_class").notNull(),
    /** JSON text of the program's inputSchema; null where the program stands unsealed, which has it. */
    inputSchema: text("input_schema"),
    createdAt: time("created_at").notNull(),
    /** A version that was deleted stays here, so that its number means no other. */
    deletedAt: time("deleted_at"),
  },
  (table) => [primaryKey({ name: "skills_key", columns: [table.projectId, table.slug, table.version] })],
);
