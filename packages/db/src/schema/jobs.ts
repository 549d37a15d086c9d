import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, time } from "./columns.ts";
import { projects } from "./projects.ts";

/** Any JSON object a column keeps for the package above, which knows its form. */
type Document = Readonly<Record<string, unknown>>;

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
    /** As it was submitted. */
    program: text("program").notNull(),
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
    status: text("status").notNull(),
    mode: text("mode").$type<"live" | "simulate">().notNull(),
    /** The live job that a twin was made for by simulateFirst. */
    simulatedFrom: idColumn("job")("simulated_from"),
    skillSlug: text("skill_slug").notNull().default(""),
    standingProgramId: text("standing_program_id").notNull().default(""),
    programDigest: bytes("program_digest").notNull(),
    /** Sealed JSON text of the input that a skill's caller gave; null: the program's own. */
    input: bytes("input"),
    /** The program's params, with what answers changed. */
    params: jsonb("params").$type<Document>().notNull(),
    /** Arguments of steps that answers changed, by step id. */
    stepArgs: jsonb("step_args").$type<Document>().notNull(),
    /** Grows with every rerun: calls of an earlier generation are not repeated as if they were of this one. */
    generation: integer("generation").notNull().default(1),
    /** Index of the step to run next in the program's flat order. */
    position: integer("position").notNull().default(0),
    /** What the engine keeps of the step under way, such as the page token it goes on from; sealed. */
    progress: bytes("progress"),
    keyId: idColumn("key")("key_id").notNull(),
    principalChain: text("principal_chain").array().notNull(),
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of what the idempotency key is bound to. */
    contentDigest: bytes("content_digest").notNull(),
    planApprovalId: text("plan_approval_id").notNull().default(""),
    estimate: jsonb("estimate").$type<Document>().notNull(),
    park: jsonb("park").$type<Document>(),
    /** Counts of calls, writes, rows and asks so far. */
    used: jsonb("used").$type<Document>().notNull(),
    saga: jsonb("saga").$type<Document>().notNull(),
    /** Null while the clock stands still; then `deadlineLeftMs` is what was left. */
    deadlineAt: time("deadline_at"),
    deadlineLeftMs: bigint("deadline_left_ms", { mode: "number" }),
    cancelRequestedAt: time("cancel_requested_at"),
    cancelChain: text("cancel_chain").array(),
    lastError: text("last_error").notNull().default(""),
    receipt: jsonb("receipt").$type<Document>(),
    lastSeq: integer("last_seq").notNull().default(0),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    finishedAt: time("finished_at"),
    /** Whether the rows are gone, which happens some days after the end. */
    isSwept: boolean("is_swept").notNull().default(false),
  },
  (table) => [
    index("jobs_project").on(table.projectId, table.id),
    index("jobs_status").on(table.projectId, table.status, table.id),
    index("jobs_simulated_from").on(table.simulatedFrom).where(sql`simulated_from is not null`),
    index("jobs_unswept").on(table.finishedAt).where(sql`finished_at is not null and not is_swept`),
    uniqueIndex("jobs_idempotency_key")
      .on(table.projectId, table.idempotencyKey)
      .where(sql`idempotency_key is not null`),
  ],
);

/** What a step did and made; in the order the steps began. */
export const jobSteps = pgTable(
  "job_steps",
  {
    jobId: job(),
    stepId: text("step_id").notNull(),
    ordinal: integer("ordinal").notNull(),
    /** The receipt as far as it is known. */
    receipt: jsonb("receipt").$type<Document>().notNull(),
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
    /** `in` for sets that are only read; of a map: `ok`, `failed`, `skipped` or `unknown`. */
    state: text("state").$type<"in" | "ok" | "failed" | "skipped" | "unknown">().notNull(),
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
    state: text("state").$type<"armed" | "done" | "failed">().notNull(),
  },
  (table) => [primaryKey({ name: "job_undo_entries_key", columns: [table.jobId, table.entry] })],
);

/**
 * Work that is due: `run` moves a job on, `deadline` ends it, `hop` passes an ask on, `reach` tells a contact of it, `publish` sends it
 * to ask endpoints. A row ends in the transaction that settles it; an idle deployment has none. Lease columns stand in no
 * index: a claim is a HOT update.
 */
export const jobTasks = pgTable(
  "job_tasks",
  {
    jobId: job(),
    kind: text("kind").$type<"run" | "deadline" | "hop" | "reach" | "publish">().notNull(),
    /** What the task is about beyond its job: `<ask id>` or `<ask id>/<hop>`; empty for none. */
    subject: text("subject").notNull(),
    projectId: project(),
    dueAt: time("due_at").notNull(),
    attempt: integer("attempt").notNull().default(0),
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

/** A job's log. `seq` is gapless from 1: it is taken from the job's row in the same transaction. */
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
    principalChain: text("principal_chain").array().notNull(),
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
    /** What the answer decides: `judge` (a step), `failed` or `unknown` (rows), `approval`, `in_doubt`, `undo_stuck`. */
    kind: text("kind").notNull(),
    state: text("state").$type<"pending" | "answered" | "defaulted" | "withdrawn">().notNull(),
    question: text("question").notNull(),
    continuations: text("continuations").array().notNull(),
    answerSchema: text("answer_schema").notNull(),
    escalation: jsonb("escalation").$type<readonly { principalId: string; timeoutSeconds: number }[]>().notNull(),
    /** The continuation that the clock applies when the ladder is over; empty for none. */
    defaultContinuation: text("default_continuation").notNull(),
    counts: jsonb("counts").$type<Document>(),
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
    eventIds: text("event_ids").array().notNull().default([]),
    refusedAnswers: integer("refused_answers").notNull().default(0),
    askedAt: time("asked_at").notNull(),
    decision: jsonb("decision").$type<Document>(),
  },
  (table) => [
    index("job_asks_project").on(table.projectId, table.id),
    index("job_asks_job").on(table.jobId, table.id),
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
    reach: jsonb("reach").$type<{ toolSlug: string; entityId: string; args: Document }>(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [primaryKey({ name: "contacts_key", columns: [table.projectId, table.principalId] })],
);

/** A program that a project promoted to a tool, `skills.<slug>`. */
export const skills = pgTable(
  "skills",
  {
    projectId: project(),
    slug: text("slug").notNull(),
    description: text("description").notNull(),
    jobId: job(),
    programDigest: bytes("program_digest").notNull(),
    accessClass: text("access_class").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [primaryKey({ name: "skills_key", columns: [table.projectId, table.slug] })],
);
