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
 * A program that starts jobs by itself. Its row is locked by whoever decides about an occurrence of it: runs of one program are
 * decided one after the other, and those of two beside each other.
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
    /** What the reason is about, for people; empty where it says everything. */
    pauseDetail: text("pause_detail").notNull().default(""),
    /** The version that runs; the newest where none ever did. */
    version: integer("version").notNull(),
    /** The version that waits for approval; 0 where none does. */
    pendingVersion: integer("pending_version").notNull().default(0),
    sourceKind: oneOf(standingSourceKinds)("source_kind").notNull(),
    /** The time zone of its definition; empty for one that was made before this was kept here. */
    timeZone: text("time_zone").notNull().default(""),
    /** The next occurrence of a schedule that nothing was decided about; null where there is none. */
    nextAt: time("next_at"),
    /** The last occurrence of a schedule that started a run. */
    previousAt: time("previous_at"),
    started: count("started"),
    skipped: count("skipped"),
    missed: count("missed"),
    /** Events that came to its `when`, and those of them that it turned away. */
    seen: count("seen"),
    filtered: count("filtered"),
    /** Jobs that ended badly, and starts that were refused, since one last went well. */
    failuresInRow: integer("failures_in_row").notNull().default(0),
    /** What the key was bound to that made it, which all its versions and runs are bound to; null for nothing. */
    binding: document(standingBindingDocument)("binding"),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    /** A program that was deleted stays as long as its runs do. */
    deletedAt: time("deleted_at"),
  },
  (table) => [
    // Lists are merged from states and kinds of sources. The state leads: where two indexes begin alike, either is taken for the other.
    index("standing_programs_state")
      .on(table.state, table.projectId, table.sourceKind, table.id)
      .where(sql`deleted_at is null`),
    // Those that were deleted as well, which an erasure of their project goes through with their runs.
    index("standing_programs_project").on(table.projectId, table.id),
    uniqueIndex("standing_programs_slug").on(table.projectId, table.slug).where(sql`deleted_at is null`),
    index("standing_programs_armed").on(table.nextAt).where(sql`state = 'active' and next_at is not null`),
    index("standing_programs_deleted").on(table.deletedAt).where(sql`deleted_at is not null`),
  ],
);

/** One definition of a standing program. What people decide about it is all that is ever changed of it. */
export const standingVersions = pgTable(
  "standing_versions",
  {
    programId: program(),
    version: integer("version").notNull(),
    /** JSON text as it was given, sealed for the context `<project>/standing_versions/<program>/<version>`. */
    definition: bytes("definition").notNull(),
    /** SHA-256 of the canonical JSON of the definition. */
    definitionHash: text("definition_hash").notNull(),
    programHash: text("program_hash").notNull(),
    /** The program in job_programs, with the definitions it runs on. */
    programDigest: bytes("program_digest").notNull(),
    estimate: document(standingEstimateDocument)("estimate").notNull(),
    /** Whether each of its jobs waits for approval first. */
    needsApproval: boolean("needs_approval").notNull(),
    /** Whose jobs its runs are. */
    keyId: idColumn("key")("key_id").notNull(),
    keyRole: oneOf(keyRoles)("key_role").notNull(),
    /** Whether it may be run; empty where its plan needs no approval. */
    approval: oneOf(standingApprovals)("approval").notNull().default(""),
    /** The approval it stands by: of its own rehearsal, or of that of an earlier version. */
    approvalId: text("approval_id").notNull().default(""),
    /** The version that people were asked about: this one, or an earlier one whose grant covers it; 0 while none is granted. */
    grantedVersion: integer("granted_version").notNull().default(0),
    /** The job by which people are asked about it. */
    rehearsalJobId: idColumn("job")("rehearsal_job_id"),
    /** SHA-256 of program, input, condition and pins: what a grant stands for. */
    planHash: text("plan_hash").notNull().default(""),
    /** Why the service made it; empty for one that somebody defined. */
    note: text("note").notNull().default(""),
    createdAt: time("created_at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_versions_key", columns: [table.programId, table.version] })],
);

/** Work of a standing program, or of a paced replay, that is due at a time. It is moved or ended, and never taken out before it is done. */
export const dueTasks = pgTable(
  "due_tasks",
  {
    /** The standing program. Of kind `replay`: the replay, under its UUID. */
    ownerId: idColumn("stp")("owner_id").notNull(),
    kind: oneOf(dueTaskKinds)("kind").notNull(),
    /** Of `cancel`: the job. Else empty. */
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
    primaryKey({ name: "due_tasks_key", columns: [table.ownerId, table.kind, table.subject] }),
    index("due_tasks_due").on(table.dueAt, table.projectId),
    // What of each project is due: a herd of one is passed by.
    index("due_tasks_project").on(table.projectId, table.dueAt),
  ],
);

/** What was decided about an occurrence of a standing program: also where nothing was started. */
export const standingRuns = pgTable(
  "standing_runs",
  {
    id: idColumn("srn")("id").primaryKey(),
    projectId: project(),
    programId: program(),
    /** The version that it runs, whatever became of the program since. */
    version: integer("version").notNull(),
    kind: oneOf(standingRunKinds)("kind").notNull(),
    /** Names the occurrence: of two equal ones of a program one is stored. */
    sourceKey: text("source_key").notNull(),
    /** What shares its overlap policy with it: the text of the policy's key. While it collects: that of the window's key. */
    lane: text("lane").notNull(),
    state: oneOf(standingRunStates)("state").notNull(),
    /** Why it did not start, or what it waits for. */
    reason: oneOf(standingRunReasons)("reason").notNull(),
    /** What the reason is about, for people; empty where it says everything. */
    detail: text("detail").notNull().default(""),
    /** Occurrences it stands for. */
    count: integer("count").notNull().default(1),
    fireAt: time("fire_at").notNull(),
    /** Of several occurrences: the last one. */
    lastAt: time("last_at"),
    /** Bytes of the events of a window, as far as they are handed over. */
    bytes: integer("bytes").notNull().default(0),
    /** Occurrences before it that were left out for it. */
    missed: integer("missed").notNull().default(0),
    previousAt: time("previous_at"),
    /** The input that a caller gave, or that events made, sealed for the context `<project>/standing_runs/<id>/input`. */
    input: bytes("input"),
    /** What shares its rate with it: the text of the policy's key. */
    rateKey: text("rate_key").notNull().default(""),
    /** New rows of a polled list that it is about. */
    rowCount: integer("row_count").notNull().default(0),
    /** Of a run by hand, or of a backfill: whose call made it. */
    callerKeyId: idColumn("key")("caller_key_id"),
    decidedAt: time("decided_at").notNull(),
    /** From when on it may start; null where only the end of another run lets it. While it collects: when its window closes. */
    notBefore: time("not_before"),
    /** How often its start failed since it waits. */
    startFailures: integer("start_failures").notNull().default(0),
    startedAt: time("started_at"),
    endedAt: time("ended_at"),
    jobId: idColumn("job")("job_id"),
    /** How its job ended. */
    jobStatus: oneOf(["", ...jobStatuses])("job_status")
      .notNull()
      .default(""),
    /** The job whose run kept it from starting. */
    blockingJobId: idColumn("job")("blocking_job_id"),
    toolCalls: integer("tool_calls").notNull().default(0),
    writes: integer("writes").notNull().default(0),
    /** Whether its end was counted: for the failures in a row, and for the budget. */
    isCounted: boolean("is_counted").notNull().default(false),
    /** The backfill that made it; null where it was due by itself. */
    backfillId: idColumn("bkf")("backfill_id"),
  },
  (table) => [
    uniqueIndex("standing_runs_source").on(table.programId, table.sourceKey),
    index("standing_runs_program").on(table.programId, table.id),
    // Lists by state and reason are merged from these. Neither is written for a run that starts at once; what they begin with nothing else asks for.
    index("standing_runs_unstarted")
      .on(sql`(state || ' ' || reason)`, table.programId, table.id)
      .where(sql`state <> 'started' and state <> 'ended'`),
    index("standing_runs_over").on(sql`(state || ' ')`, table.programId, table.id).where(sql`state = 'ended'`),
    // Windows are decided about after they were made.
    index("standing_runs_windows")
      .on(sql`(bytes > 0)`, table.programId, table.decidedAt, table.id)
      .where(sql`bytes > 0`),
    index("standing_runs_running").on(table.programId, table.lane, table.id).where(sql`state = 'started'`),
    index("standing_runs_queued").on(table.programId, table.lane, table.id).where(sql`state = 'queued'`),
    // Which of those that wait may start first by its time, and which waits for the longest.
    index("standing_runs_ready")
      .on(table.programId, table.notBefore)
      .where(sql`state = 'queued' and not_before is not null`),
    index("standing_runs_oldest").on(table.programId, table.decidedAt).where(sql`state = 'queued'`),
    // One window of a key is open at a time.
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
 * Occurrences of the past that a standing program makes up for, at a pace. While it is running a task of kind `backfill` stands for it,
 * unless its program is paused. Its program is locked by whoever moves it, and its position moves with the runs that are decided: none is
 * made twice.
 */
export const standingBackfills = pgTable(
  "standing_backfills",
  {
    id: idColumn("bkf")("id").primaryKey(),
    projectId: project(),
    programId: program(),
    /** The version that it was asked for: it goes on while the program has its definition. */
    version: integer("version").notNull(),
    state: oneOf(backfillStates)("state").notNull(),
    reason: oneOf(backfillReasons)("reason").notNull().default(""),
    since: time("since").notNull(),
    until: time("until").notNull(),
    /** Whether occurrences that have a run make another one. */
    again: boolean("again").notNull(),
    /** Runs that it makes in a minute, at most. */
    perMinute: integer("per_minute").notNull(),
    /** The overlap policy of its runs. */
    policy: oneOf(overlapPolicies)("policy").notNull(),
    /** Occurrences of the range, as they were counted at the start. */
    total: integer("total").notNull(),
    /** Runs that it started, or that wait to be. */
    started: integer("started").notNull().default(0),
    /** Runs that were left out or refused. */
    skipped: integer("skipped").notNull().default(0),
    /** Occurrences that have a run already, or that `when` turned away. */
    passed: integer("passed").notNull().default(0),
    /** Of a schedule: the last time that was dealt with; null before the first. */
    positionAt: time("position_at"),
    /** Of events: the last one that was looked at; before the first, what is before all of its range. Null for a schedule. */
    positionEventId: idColumn("evt")("position_event_id"),
    /** Until when its pace is used up: what may be started next is the pace over the time since. */
    pacedAt: time("paced_at").notNull(),
    callerKeyId: idColumn("key")("caller_key_id").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    endedAt: time("ended_at"),
  },
  (table) => [
    // One of a program runs at a time.
    uniqueIndex("standing_backfills_running").on(table.programId).where(sql`ended_at is null`),
    index("standing_backfills_ended").on(table.endedAt).where(sql`ended_at is not null`),
    // Which events of a project are still to be made up for: they outlive their retention.
    index("standing_backfills_unreached")
      .on(table.projectId, table.positionEventId)
      .where(sql`ended_at is null and position_event_id is not null`),
  ],
);

/** Where the rate of a key of a standing program stands. */
export const standingRates = pgTable(
  "standing_rates",
  {
    programId: program(),
    key: text("key").notNull(),
    /** When the next start would be due if they were spread evenly (GCRA's theoretical arrival time). */
    at: time("at").notNull(),
  },
  (table) => [
    primaryKey({ name: "standing_rates_key", columns: [table.programId, table.key] }),
    index("standing_rates_at").on(table.at),
  ],
);

/** What the runs of a standing program used on a day of its time zone. */
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
 * Which trigger a version of a program listens to, from one routing version of its project until another: an event belongs to it by the
 * version that it was stored at, whatever clocks say.
 */
export const standingListeners = pgTable(
  "standing_listeners",
  {
    programId: program(),
    fromVersion: bigint("from_version", { mode: "number" }).notNull(),
    projectId: project(),
    triggerSlug: text("trigger_slug").notNull(),
    /** Of the program: which version listens. */
    version: integer("version").notNull(),
    /** The first routing version at which it does not listen any more; null while it does. */
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
 * An event that programs of its project listen to and that nothing was decided about yet: one row, whatever their number. It is stored
 * with its event, and goes with the transaction that stores what was decided.
 */
export const standingArrivals = pgTable(
  "standing_arrivals",
  {
    /** When its event was received; a later attempt waits by its lease, and the key stays. */
    dueAt: time("due_at").notNull(),
    projectId: idColumn("prj")("project_id").notNull(),
    eventId: idColumn("evt")("event_id").notNull(),
    triggerSlug: text("trigger_slug").notNull(),
    /** The routing version of the project that it was stored at. */
    routingVersion: bigint("routing_version", { mode: "number" }).notNull(),
    attempt: integer("attempt").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /** Grows with every claim: what an earlier holder still writes is refused. */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  // By project first: each has its own lane, and a look hops from one to the next.
  (table) => [primaryKey({ name: "standing_arrivals_key", columns: [table.projectId, table.dueAt, table.eventId] })],
);

/** Where the polls of a standing program stand; written with the runs that they make. */
export const standingPolls = pgTable("standing_polls", {
  programId: program().primaryKey(),
  projectId: project(),
  /** Ids of rows are remembered by it: with another one, nothing is known. */
  generation: integer("generation").notNull(),
  /** SHA-256 of what is polled and how rows are told apart: a version with another one begins anew. */
  identity: bytes("identity").notNull(),
  /** Cursor and open walk as JSON, sealed for the context `<project>/standing_polls/<program>`. */
  state: bytes("state").notNull(),
  /** Whether the first walk has ended. */
  isPrimed: boolean("is_primed").notNull(),
  /** Polls whose outcome was kept: names the next one. */
  polls: count("polls"),
  /** Ids that are remembered. */
  seen: integer("seen").notNull(),
  /** Whether ids of earlier generations are still to be removed. */
  hasStale: boolean("has_stale").notNull(),
  polledAt: time("polled_at").notNull(),
  outcome: oneOf(pollOutcomes)("outcome").notNull(),
  /** Of one that failed: the outcome of the read, or what its answer lacked; of one that was limited, by which limit. */
  code: text("code").notNull(),
  /** What that is about, for people. */
  detail: text("detail").notNull(),
  /** Pages and rows that the last poll read, and rows of them that it found. */
  pages: integer("pages").notNull(),
  rows: integer("rows").notNull(),
  found: integer("found").notNull(),
  /** Failed polls in a row. */
  failuresInRow: integer("failures_in_row").notNull(),
});

/** Ids of a polled list that are known. */
export const standingSeen = pgTable(
  "standing_seen",
  {
    programId: program(),
    generation: integer("generation").notNull(),
    /** The first 16 bytes of the id's SHA-256. */
    digest: bytes("digest").notNull(),
    /** Of the row's kept fields, where polls look for rows that changed; else empty. */
    content: bytes("content").notNull(),
    /** When it was last met, to a day. */
    seenAt: time("seen_at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_seen_key", columns: [table.programId, table.generation, table.digest] })],
);

/** Which window of a program collected an event: each event is in one run. */
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

/** When a standing program last told ask endpoints of something of a kind. */
export const standingNotices = pgTable(
  "standing_notices",
  {
    programId: program(),
    kind: oneOf(standingNoticeKinds)("kind").notNull(),
    at: time("at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_notices_key", columns: [table.programId, table.kind] })],
);

/** A key of `dedupe` that a program has seen, and until when it is remembered. */
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

/** One row in all: what schedules were last armed by. */
export const standingState = pgTable("standing_state", {
  id: integer("id").primaryKey(),
  /** The newest time zone data of any node: those that have older data arm nothing again. */
  tzVersion: text("tz_version").notNull(),
});
