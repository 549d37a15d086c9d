import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { standingBindingDocument } from "../documents/calls.ts";
import { standingEstimateDocument } from "../documents/programs.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import {
  backfillReasons,
  backfillStates,
  dueTaskKinds,
  jobStatuses,
  keyRoles,
  overlapPolicies,
  pollOutcomes,
  standingApprovals,
  standingNoticeKinds,
  standingPauseReasons,
  standingRunKinds,
  standingRunReasons,
  standingRunStates,
  standingSourceKinds,
  standingStates,
  subscriptionEndReasons,
} from "./words.ts";

const project = () =>
  idColumn("prj")("project_id")
    .notNull()
    .references(() => projects.id);
const program = () => idColumn("stp")("program_id").notNull();
const count = (name: string) => bigint(name, { mode: "number" }).notNull().default(0);

/**
 * A program that starts jobs by itself. A transaction that decides about its occurrences locks its row: runs of one program are decided one
 * after the other, those of two programs in parallel.
 */
export const standingPrograms = pgTable(
  "standing_programs",
  {
    id: idColumn("stp")("id").primaryKey(),
    projectId: project(),
    slug: text("slug").notNull(),
    title: text("title").notNull(),
    state: oneOf(standingStates)("state").notNull(),
    pauseReason: oneOf(standingPauseReasons)("pause_reason").notNull().default(""),
    /** Details of the reason, for people; empty if the reason says everything. */
    pauseDetail: text("pause_detail").notNull().default(""),
    /** The running version; the newest one if none ever ran. */
    version: integer("version").notNull(),
    /** The version that waits for approval; 0 for none. */
    pendingVersion: integer("pending_version").notNull().default(0),
    sourceKind: oneOf(standingSourceKinds)("source_kind").notNull(),
    /** Time zone of its definition; empty for programs created before this column. */
    timeZone: text("time_zone").notNull().default(""),
    /** Next undecided occurrence of a schedule; null for none. */
    nextAt: time("next_at"),
    /** Last occurrence of a schedule that started a run. */
    previousAt: time("previous_at"),
    started: count("started"),
    skipped: count("skipped"),
    missed: count("missed"),
    /** Events checked by its `when`, and those rejected by it. */
    seen: count("seen"),
    filtered: count("filtered"),
    /** Failed jobs and refused starts since the last success. */
    failuresInRow: integer("failures_in_row").notNull().default(0),
    /** Scope of the key that created it, which limits all its versions and runs; null for no limit. */
    binding: document(standingBindingDocument)("binding"),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    /** A deleted program stays as long as its runs. */
    deletedAt: time("deleted_at"),
  },
  (table) => [
    // Lists merge states and kinds of sources. The state leads, because plans confuse indexes with the same first column.
    index("standing_programs_state")
      .on(table.state, table.projectId, table.sourceKind, table.id)
      .where(sql`deleted_at is null`),
    // Includes deleted programs: an erasure of their project processes them with their runs.
    index("standing_programs_project").on(table.projectId, table.id),
    uniqueIndex("standing_programs_slug").on(table.projectId, table.slug).where(sql`deleted_at is null`),
    index("standing_programs_armed").on(table.nextAt).where(sql`state = 'active' and next_at is not null`),
    index("standing_programs_deleted").on(table.deletedAt).where(sql`deleted_at is not null`),
  ],
);

/** One version of a standing program's definition. Only the human decisions about it ever change. */
export const standingVersions = pgTable(
  "standing_versions",
  {
    programId: program(),
    version: integer("version").notNull(),
    /** The JSON text as submitted, sealed for the context `<project>/standing_versions/<program>/<version>`. */
    definition: bytes("definition").notNull(),
    /** SHA-256 of the canonical JSON of the definition. */
    definitionHash: text("definition_hash").notNull(),
    programHash: text("program_hash").notNull(),
    /** Digest of the program in job_programs, with the definitions it runs on. */
    programDigest: bytes("program_digest").notNull(),
    estimate: document(standingEstimateDocument)("estimate").notNull(),
    /** True if each of its jobs needs approval first. */
    needsApproval: boolean("needs_approval").notNull(),
    /** The key that its runs' jobs belong to. */
    keyId: idColumn("key")("key_id").notNull(),
    keyRole: oneOf(keyRoles)("key_role").notNull(),
    /** Approval state; empty if its plan needs no approval. */
    approval: oneOf(standingApprovals)("approval").notNull().default(""),
    /** The approval it relies on: of its own approval dry run, or of an earlier version's. */
    approvalId: text("approval_id").notNull().default(""),
    /** The approved version: this one, or an earlier one whose approval covers it; 0 if none is granted. */
    grantedVersion: integer("granted_version").notNull().default(0),
    /** The job that asks for its approval. */
    rehearsalJobId: idColumn("job")("rehearsal_job_id"),
    /** SHA-256 of program, input, condition and pins: the content that an approval covers. */
    planHash: text("plan_hash").notNull().default(""),
    /** Why svc created it; empty if a caller defined it. */
    note: text("note").notNull().default(""),
    createdAt: time("created_at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_versions_key", columns: [table.programId, table.version] })],
);

/** Due work of a standing program or a throttled replay. A task is moved or deleted only when its work is done. */
export const dueTasks = pgTable(
  "due_tasks",
  {
    /** The standing program; for kind `replay`, the replay, under its UUID. */
    ownerId: idColumn("stp")("owner_id").notNull(),
    kind: oneOf(dueTaskKinds)("kind").notNull(),
    /** For `cancel`: the job. Otherwise empty. */
    subject: text("subject").notNull(),
    projectId: project(),
    dueAt: time("due_at").notNull(),
    attempt: integer("attempt").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /** Grows with every claim: writes of an earlier holder are refused. */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  (table) => [
    primaryKey({ name: "due_tasks_key", columns: [table.ownerId, table.kind, table.subject] }),
    index("due_tasks_due").on(table.dueAt, table.projectId),
    // Due tasks per project, so that a burst of one project does not delay the others.
    index("due_tasks_project").on(table.projectId, table.dueAt),
  ],
);

/** The decision about an occurrence of a standing program, also if nothing was started. */
export const standingRuns = pgTable(
  "standing_runs",
  {
    id: idColumn("srn")("id").primaryKey(),
    projectId: project(),
    programId: program(),
    /** The version that it runs, even if the program changes later. */
    version: integer("version").notNull(),
    kind: oneOf(standingRunKinds)("kind").notNull(),
    /** Identifies the occurrence: only one run per program is stored for it. */
    sourceKey: text("source_key").notNull(),
    /** Concurrency key: runs with the same key share the overlap policy. While collecting, the window's key. */
    lane: text("lane").notNull(),
    state: oneOf(standingRunStates)("state").notNull(),
    /** Why it did not start, or what it waits for. */
    reason: oneOf(standingRunReasons)("reason").notNull(),
    /** Details of the reason, for people; empty if the reason says everything. */
    detail: text("detail").notNull().default(""),
    /** Number of occurrences in this run. */
    count: integer("count").notNull().default(1),
    fireAt: time("fire_at").notNull(),
    /** The last of several occurrences. */
    lastAt: time("last_at"),
    /** Size in bytes of the window's events that are passed to the job. */
    bytes: integer("bytes").notNull().default(0),
    /** Earlier occurrences that were skipped in favour of this one. */
    missed: integer("missed").notNull().default(0),
    previousAt: time("previous_at"),
    /** Input given by a caller or made from events, sealed for the context `<project>/standing_runs/<id>/input`. */
    input: bytes("input"),
    /** Rate key: runs with the same key share the rate. */
    rateKey: text("rate_key").notNull().default(""),
    /** Number of new rows of a polled list. */
    rowCount: integer("row_count").notNull().default(0),
    /** For manual runs and backfills: the key of the caller. */
    callerKeyId: idColumn("key")("caller_key_id"),
    decidedAt: time("decided_at").notNull(),
    /** Earliest start; null if only the end of another run allows it. While collecting: when the window closes. */
    notBefore: time("not_before"),
    /** Failed starts since it is queued. */
    startFailures: integer("start_failures").notNull().default(0),
    startedAt: time("started_at"),
    endedAt: time("ended_at"),
    jobId: idColumn("job")("job_id"),
    /** Final status of its job. */
    jobStatus: oneOf(["", ...jobStatuses])("job_status")
      .notNull()
      .default(""),
    /** The job that blocked its start. */
    blockingJobId: idColumn("job")("blocking_job_id"),
    toolCalls: integer("tool_calls").notNull().default(0),
    writes: integer("writes").notNull().default(0),
    /** True if its end was counted for the failures in a row and for the budget. */
    isCounted: boolean("is_counted").notNull().default(false),
    /** The backfill that created it; null if it was due by itself. */
    backfillId: idColumn("bkf")("backfill_id"),
  },
  (table) => [
    uniqueIndex("standing_runs_source").on(table.programId, table.sourceKey),
    index("standing_runs_program").on(table.programId, table.id),
    // Lists by state and reason merge these two indexes. A run that starts at once is in neither. No other query uses their first columns.
    index("standing_runs_unstarted")
      .on(sql`(state || ' ' || reason)`, table.programId, table.id)
      .where(sql`state <> 'started' and state <> 'ended'`),
    index("standing_runs_over").on(sql`(state || ' ')`, table.programId, table.id).where(sql`state = 'ended'`),
    // Windows are decided after they were created.
    index("standing_runs_windows")
      .on(sql`(bytes > 0)`, table.programId, table.decidedAt, table.id)
      .where(sql`bytes > 0`),
    index("standing_runs_running").on(table.programId, table.lane, table.id).where(sql`state = 'started'`),
    index("standing_runs_queued").on(table.programId, table.lane, table.id).where(sql`state = 'queued'`),
    // The queued run that may start first by its time, and the one that has waited longest.
    index("standing_runs_ready")
      .on(table.programId, table.notBefore)
      .where(sql`state = 'queued' and not_before is not null`),
    index("standing_runs_oldest").on(table.programId, table.decidedAt).where(sql`state = 'queued'`),
    // One open window per key.
    uniqueIndex("standing_runs_window").on(table.programId, table.lane).where(sql`state = 'collecting'`),
    index("standing_runs_closing").on(table.programId, table.notBefore).where(sql`state in ('collecting', 'closing')`),
    index("standing_runs_waiting")
      .on(table.projectId, table.id)
      .where(sql`state = 'queued' and reason = 'project_runs'`),
    index("standing_runs_started").on(table.projectId, table.id).where(sql`state = 'started'`),
    index("standing_runs_uncounted").on(table.programId, table.id).where(sql`state = 'ended' and not is_counted`),
    index("standing_runs_ended").on(table.endedAt).where(sql`ended_at is not null`),
  ],
);

/**
 * Past occurrences that a standing program catches up on, at a limited rate. While it runs, it has a task of kind `backfill`, unless its
 * program is paused. A transaction that moves it locks its program, and its position moves together with the decided runs, so no run is
 * made twice.
 */
export const standingBackfills = pgTable(
  "standing_backfills",
  {
    id: idColumn("bkf")("id").primaryKey(),
    projectId: project(),
    programId: program(),
    /** The version it was requested for: it continues while the program has that definition. */
    version: integer("version").notNull(),
    state: oneOf(backfillStates)("state").notNull(),
    reason: oneOf(backfillReasons)("reason").notNull().default(""),
    since: time("since").notNull(),
    until: time("until").notNull(),
    /** True if occurrences that have a run get another one. */
    again: boolean("again").notNull(),
    /** Maximum runs per minute. */
    perMinute: integer("per_minute").notNull(),
    /** The overlap policy of its runs. */
    policy: oneOf(overlapPolicies)("policy").notNull(),
    /** Occurrences in the range, counted at the start. */
    total: integer("total").notNull(),
    /** Runs started or queued. */
    started: integer("started").notNull().default(0),
    /** Runs skipped or refused. */
    skipped: integer("skipped").notNull().default(0),
    /** Occurrences that already have a run, or that `when` rejected. */
    passed: integer("passed").notNull().default(0),
    /** For a schedule: the last processed time; null before the first. */
    positionAt: time("position_at"),
    /** For events: the last scanned event; before the first, an id below the range. Null for a schedule. */
    positionEventId: idColumn("evt")("position_event_id"),
    /** Until when its rate is used up: the next starts are the rate times the time since then. */
    pacedAt: time("paced_at").notNull(),
    callerKeyId: idColumn("key")("caller_key_id").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    endedAt: time("ended_at"),
  },
  (table) => [
    // One running backfill per program.
    uniqueIndex("standing_backfills_running").on(table.programId).where(sql`ended_at is null`),
    index("standing_backfills_ended").on(table.endedAt).where(sql`ended_at is not null`),
    // Events of a project that a backfill has yet to process: they are kept beyond their retention.
    index("standing_backfills_unreached")
      .on(table.projectId, table.positionEventId)
      .where(sql`ended_at is null and position_event_id is not null`),
  ],
);

/** Rate state of a key of a standing program. */
export const standingRates = pgTable(
  "standing_rates",
  {
    programId: program(),
    key: text("key").notNull(),
    /** Due time of the next start if starts were spread evenly (GCRA's theoretical arrival time). */
    at: time("at").notNull(),
  },
  (table) => [
    primaryKey({ name: "standing_rates_key", columns: [table.programId, table.key] }),
    index("standing_rates_at").on(table.at),
  ],
);

/** Usage of a standing program's runs on one day of its time zone. */
export const standingUsage = pgTable(
  "standing_usage",
  {
    programId: program(),
    /** `2026-03-14`. */
    day: text("day").notNull(),
    runs: integer("runs").notNull(),
    toolCalls: bigint("tool_calls", { mode: "number" }).notNull(),
    writes: bigint("writes", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ name: "standing_usage_key", columns: [table.programId, table.day] })],
);

/**
 * A version's subscription to a trigger, between two routing versions of its project. The routing version at which an event was stored
 * decides if the event is for the program; clocks do not.
 */
export const standingListeners = pgTable(
  "standing_listeners",
  {
    programId: program(),
    fromVersion: bigint("from_version", { mode: "number" }).notNull(),
    projectId: project(),
    triggerSlug: text("trigger_slug").notNull(),
    /** The subscribed version of the program. */
    version: integer("version").notNull(),
    /** First routing version without the subscription; null while it is open. */
    untilVersion: bigint("until_version", { mode: "number" }),
    endReason: oneOf(subscriptionEndReasons)("end_reason").notNull().default(""),
    endedAt: time("ended_at"),
  },
  (table) => [
    primaryKey({ name: "standing_listeners_key", columns: [table.programId, table.fromVersion] }),
    index("standing_listeners_trigger").on(table.projectId, table.triggerSlug, table.fromVersion),
    index("standing_listeners_ended").on(table.endedAt).where(sql`ended_at is not null`),
  ],
);

/**
 * The inbox of standing programs: an event that programs of its project subscribe to, without a decision yet. One row for any number of
 * programs. It is stored with its event and deleted in the transaction that stores the decision.
 */
export const standingArrivals = pgTable(
  "standing_arrivals",
  {
    /** When its event was received. A later attempt waits by its lease; the key does not change. */
    dueAt: time("due_at").notNull(),
    projectId: idColumn("prj")("project_id").notNull(),
    eventId: idColumn("evt")("event_id").notNull(),
    triggerSlug: text("trigger_slug").notNull(),
    /** Routing version of the project when the event was stored. */
    routingVersion: bigint("routing_version", { mode: "number" }).notNull(),
    attempt: integer("attempt").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /** Grows with every claim: writes of an earlier holder are refused. */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  // By project first: each has its own queue, and a scan hops from one to the next.
  (table) => [primaryKey({ name: "standing_arrivals_key", columns: [table.projectId, table.dueAt, table.eventId] })],
);

/** Poll state of a standing program, written with the runs that its polls create. */
export const standingPolls = pgTable("standing_polls", {
  programId: program().primaryKey(),
  projectId: project(),
  /** Ids of rows are remembered per generation: after a change, none is known. */
  generation: integer("generation").notNull(),
  /** SHA-256 of what is polled and how rows are identified: a version with another identity starts from the beginning. */
  identity: bytes("identity").notNull(),
  /** Cursor and open walk as JSON, sealed for the context `<project>/standing_polls/<program>`. */
  state: bytes("state").notNull(),
  /** True if the first walk has finished. */
  isPrimed: boolean("is_primed").notNull(),
  /** Polls with a stored outcome; used to name the next poll. */
  polls: count("polls"),
  /** Number of remembered ids. */
  seen: integer("seen").notNull(),
  /** True if ids of earlier generations remain to be removed. */
  hasStale: boolean("has_stale").notNull(),
  polledAt: time("polled_at").notNull(),
  outcome: oneOf(pollOutcomes)("outcome").notNull(),
  /** For a failed poll: the outcome of the read, or what its answer lacked. For a limited poll: the limit. */
  code: text("code").notNull(),
  /** Details of the code, for people. */
  detail: text("detail").notNull(),
  /** Pages and rows read by the last poll, and rows it found. */
  pages: integer("pages").notNull(),
  rows: integer("rows").notNull(),
  found: integer("found").notNull(),
  /** Failed polls in a row. */
  failuresInRow: integer("failures_in_row").notNull(),
});

/** Known ids of a polled list. */
export const standingSeen = pgTable(
  "standing_seen",
  {
    programId: program(),
    generation: integer("generation").notNull(),
    /** The first 16 bytes of the id's SHA-256. */
    digest: bytes("digest").notNull(),
    /** Digest of the row's kept fields, if polls look for changed rows; otherwise empty. */
    content: bytes("content").notNull(),
    /** When it was last polled, accurate to a day. */
    seenAt: time("seen_at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_seen_key", columns: [table.programId, table.generation, table.digest] })],
);

/** The window of a program that collected an event: each event is in one run. */
export const standingRunEvents = pgTable(
  "standing_run_events",
  {
    eventId: idColumn("evt")("event_id").notNull(),
    programId: program(),
    runId: idColumn("srn")("run_id").notNull(),
  },
  (table) => [
    primaryKey({ name: "standing_run_events_key", columns: [table.eventId, table.programId] }),
    index("standing_run_events_run").on(table.runId, table.eventId),
  ],
);

/** When a standing program last sent ask endpoints a notice of each kind. */
export const standingNotices = pgTable(
  "standing_notices",
  {
    programId: program(),
    kind: oneOf(standingNoticeKinds)("kind").notNull(),
    at: time("at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_notices_key", columns: [table.programId, table.kind] })],
);

/** A `dedupe` key that a program knows, and its expiry. */
export const standingDedupe = pgTable(
  "standing_dedupe",
  {
    programId: program(),
    key: text("key").notNull(),
    until: time("until").notNull(),
  },
  (table) => [
    primaryKey({ name: "standing_dedupe_key", columns: [table.programId, table.key] }),
    index("standing_dedupe_until").on(table.until),
  ],
);

/** A single row: the time zone data of the schedules. */
export const standingState = pgTable("standing_state", {
  id: integer("id").primaryKey(),
  /** Newest version of time zone data of any node; nodes with older data change no schedule. */
  tzVersion: text("tz_version").notNull(),
});
