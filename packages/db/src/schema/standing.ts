import { roles } from "@svc/core";
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
  overlapPolicies,
  pollOutcomes,
  standingApprovals,
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
 * Standing programs: programs that start jobs by themselves. A transaction that decides about a program's occurrences locks the program's
 * row. So svc decides about occurrences of one program one after the other, and about those of two programs in parallel.
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
    /** Details of the pause reason, for people. Empty if the reason says everything. */
    pauseDetail: text("pause_detail").notNull().default(""),
    /** Number of the version that runs. If no version of the standing program (the schedule) has ever run, it is the newest version. */
    version: integer("version").notNull(),
    /** Number of the standing program's version that waits for approval. 0 if there is no such version. */
    pendingVersion: integer("pending_version").notNull().default(0),
    sourceKind: oneOf(standingSourceKinds)("source_kind").notNull(),
    /** Time zone in the schedule's definition. Empty for schedules that were stored before this column existed. */
    timeZone: text("time_zone").notNull().default(""),
    /** Next due time for which svc has not yet decided to start or skip a run. Null if the program has no further due time. */
    nextAt: time("next_at"),
    /**
     * If the program starts at set times: the last due time about which svc has decided, by starting or skipping a run. Null before the
     * first decision, and for programs that events or new rows start.
     */
    previousAt: time("previous_at"),
    started: count("started"),
    skipped: count("skipped"),
    missed: count("missed"),
    /**
     * Number of events that were checked with the condition `when` of the standing program (the schedule). `filtered`: number of these
     * events for which the condition was false.
     */
    seen: count("seen"),
    filtered: count("filtered"),
    /** Number of failed jobs and refused starts of the standing program (the schedule) since its last successful job. */
    failuresInRow: integer("failures_in_row").notNull().default(0),
    /** Scope of the key that created the program. It limits all versions and runs of the program. Null for no limit. */
    binding: document(standingBindingDocument)("binding"),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    /** When the program was deleted. The row of a deleted program stays as long as the program's runs. */
    deletedAt: time("deleted_at"),
  },
  (table) => [
    // svc reads a list of programs separately for each state and each kind of source, and merges the results. The index begins with the
    // state, because PostgreSQL's planner confuses indexes that have the same first column.
    index("standing_programs_state")
      .on(table.state, table.projectId, table.sourceKind, table.id)
      .where(sql`deleted_at is null`),
    // This index includes deleted programs: the erasure of a project processes them together with their runs.
    index("standing_programs_project").on(table.projectId, table.id),
    uniqueIndex("standing_programs_slug").on(table.projectId, table.slug).where(sql`deleted_at is null`),
    index("standing_programs_armed").on(table.nextAt).where(sql`state = 'active' and next_at is not null`),
    index("standing_programs_deleted").on(table.deletedAt).where(sql`deleted_at is not null`),
  ],
);

/**
 * Versions of the definitions of standing programs (which start jobs on a schedule or event). After a version is stored, only the decisions
 * of people about it change.
 */
export const standingVersions = pgTable(
  "standing_versions",
  {
    programId: program(),
    version: integer("version").notNull(),
    /**
     * The JSON text of the schedule's definition as the caller submitted it, encrypted. It can be decrypted only with the context
     * `<project>/standing_versions/<program>/<version>`.
     */
    definition: bytes("definition").notNull(),
    /** SHA-256 of the schedule's definition in canonical JSON. */
    definitionHash: text("definition_hash").notNull(),
    programHash: text("program_hash").notNull(),
    /** Digest of the program together with the tool definitions that the program uses. It identifies a row of the table job_programs. */
    programDigest: bytes("program_digest").notNull(),
    estimate: document(standingEstimateDocument)("estimate").notNull(),
    /** True if people must approve each job of the version. */
    needsApproval: boolean("needs_approval").notNull(),
    /** The key that owns the jobs which runs of this program version start. */
    keyId: idColumn("key")("key_id").notNull(),
    keyRole: oneOf(roles)("key_role").notNull(),
    /** State of the version's approval. Empty if its plan needs no approval. */
    approval: oneOf(standingApprovals)("approval").notNull().default(""),
    /**
     * Id of the approval that allows this version of the schedule to run. A person gave it after the approval dry run (a simulation run) of
     * this version or of an earlier version.
     */
    approvalId: text("approval_id").notNull().default(""),
    /** Number of the version that people approved: this version, or an earlier one with the same program. 0 without an approval. */
    grantedVersion: integer("granted_version").notNull().default(0),
    /** The job that shows people a simulation of this version of the schedule and asks for its approval (the approval dry run). */
    rehearsalJobId: idColumn("job")("rehearsal_job_id"),
    /**
     * SHA-256 of the program, its input, its condition and the tool definitions that it uses. These are the content that a person's
     * approval covers.
     */
    planHash: text("plan_hash").notNull().default(""),
    /** Reason why svc created this version of the schedule by itself. Empty if a caller created it. */
    note: text("note").notNull().default(""),
    createdAt: time("created_at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_versions_key", columns: [table.programId, table.version] })],
);

/**
 * Due work of standing programs (which start jobs on a schedule or event) and of throttled replays. A task is moved or deleted only when
 * its work is done.
 */
export const dueTasks = pgTable(
  "due_tasks",
  {
    /**
     * Id of the standing program (schedule) that the task belongs to. For the kind `replay`: the UUID of the replay, written in the form of
     * a standing program's id.
     */
    ownerId: idColumn("stp")("owner_id").notNull(),
    kind: oneOf(dueTaskKinds)("kind").notNull(),
    /** The job to cancel, if the task has the kind `cancel`. Empty for tasks of all other kinds. */
    subject: text("subject").notNull(),
    projectId: project(),
    dueAt: time("due_at").notNull(),
    attempt: integer("attempt").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /**
     * A number that grows each time a node takes the task. A write with an older number is refused, because its node no longer holds the
     * task.
     */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  (table) => [
    primaryKey({ name: "due_tasks_key", columns: [table.ownerId, table.kind, table.subject] }),
    index("due_tasks_due").on(table.dueAt, table.projectId),
    // This index finds the due tasks of each project, so that a burst of one project does not delay other projects.
    index("due_tasks_project").on(table.projectId, table.dueAt),
  ],
);

/**
 * Runs of standing programs (which start jobs on a schedule or event). Each is the decision about an occurrence, even if the decision was
 * to start nothing.
 */
export const standingRuns = pgTable(
  "standing_runs",
  {
    id: idColumn("srn")("id").primaryKey(),
    projectId: project(),
    programId: program(),
    /** Number of the standing program's version that the run uses. A later version of the program does not change it. */
    version: integer("version").notNull(),
    kind: oneOf(standingRunKinds)("kind").notNull(),
    /**
     * Text that identifies the time, event or request that the run is for. A program has at most one run per source key, so nothing is run
     * twice.
     */
    sourceKey: text("source_key").notNull(),
    /**
     * Concurrency key of the run. The overlap policy decides about runs with the same concurrency key. For a run that still collects
     * events, it is instead the key by which events are grouped into runs.
     */
    lane: text("lane").notNull(),
    state: oneOf(standingRunStates)("state").notNull(),
    /** Why the run did not start, or why it still waits. */
    reason: oneOf(standingRunReasons)("reason").notNull(),
    /** Details of the reason, for people; empty if the reason says everything. */
    detail: text("detail").notNull().default(""),
    /** Number of occurrences (due times or events of the schedule) that this run processes. */
    count: integer("count").notNull().default(1),
    fireAt: time("fire_at").notNull(),
    /** Time of the last occurrence (due time or event) of the run, if several were joined into this run. */
    lastAt: time("last_at"),
    /** For a run with a collect window (a time in which it gathers events): size in bytes of the events that are passed to the job. */
    bytes: integer("bytes").notNull().default(0),
    /** Number of earlier occurrences that svc skipped because this occurrence replaces them. */
    missed: integer("missed").notNull().default(0),
    previousAt: time("previous_at"),
    /** Input that a caller gave or that was made from events, sealed for the context `<project>/standing_runs/<id>/input`. */
    input: bytes("input"),
    /**
     * Key by which the rate limit of the schedule counts: the limit applies to all runs with the same rate key together. Empty if there is
     * no such key.
     */
    rateKey: text("rate_key").notNull().default(""),
    /** Number of new rows that this run processes, if a poll (the regular reading of a list) started it. 0 for all other runs. */
    rowCount: integer("row_count").notNull().default(0),
    /**
     * Key of the caller who started the run by hand or requested the backfill to which the run belongs. Null for runs that svc started by
     * itself.
     */
    callerKeyId: idColumn("key")("caller_key_id"),
    decidedAt: time("decided_at").notNull(),
    /** Earliest start. Null if the run waits only for the end of another run. While the run collects events: when its window closes. */
    notBefore: time("not_before"),
    /** Number of failed starts since the run was queued. */
    startFailures: integer("start_failures").notNull().default(0),
    startedAt: time("started_at"),
    endedAt: time("ended_at"),
    jobId: idColumn("job")("job_id"),
    /** Final status of the job that the run started. Empty until the job has ended. */
    jobStatus: oneOf(["", ...jobStatuses])("job_status")
      .notNull()
      .default(""),
    /** The job that prevented the run from starting. */
    blockingJobId: idColumn("job")("blocking_job_id"),
    toolCalls: integer("tool_calls").notNull().default(0),
    writes: integer("writes").notNull().default(0),
    /**
     * True if the end of the run is already included in two numbers: the program's failures in a row, and the usage that counts for its
     * budget.
     */
    isCounted: boolean("is_counted").notNull().default(false),
    /** The backfill that created the run. Null if no backfill created it. */
    backfillId: idColumn("bkf")("backfill_id"),
  },
  (table) => [
    uniqueIndex("standing_runs_source").on(table.programId, table.sourceKey),
    index("standing_runs_program").on(table.programId, table.id),
    // Lists by state and reason merge standing_runs_unstarted and standing_runs_over. A run that starts at once is in neither index. No
    // other query uses the first columns of these indexes.
    index("standing_runs_unstarted")
      .on(sql`(state || ' ' || reason)`, table.programId, table.id)
      .where(sql`state <> 'started' and state <> 'ended'`),
    index("standing_runs_over").on(sql`(state || ' ')`, table.programId, table.id).where(sql`state = 'ended'`),
    // A window is decided later than its run is created, so this index has the time of the decision.
    index("standing_runs_windows")
      .on(sql`(bytes > 0)`, table.programId, table.decidedAt, table.id)
      .where(sql`bytes > 0`),
    index("standing_runs_running").on(table.programId, table.lane, table.id).where(sql`state = 'started'`),
    index("standing_runs_queued").on(table.programId, table.lane, table.id).where(sql`state = 'queued'`),
    // These two indexes find the queued run with the earliest start time, and the queued run that has waited longest.
    index("standing_runs_ready")
      .on(table.programId, table.notBefore)
      .where(sql`state = 'queued' and not_before is not null`),
    index("standing_runs_oldest").on(table.programId, table.decidedAt).where(sql`state = 'queued'`),
    // A window is a run that still collects events (state `collecting`). There is at most one such run for each program and concurrency
    // key.
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
 * Backfills: each starts runs for past times or events of a schedule, at a limited rate. A running backfill has a task of kind `backfill`,
 * unless its schedule is paused. A transaction that continues a backfill locks the schedule. It stores the backfill's position together
 * with the new runs, so no run is made twice.
 */
export const standingBackfills = pgTable(
  "standing_backfills",
  {
    id: idColumn("bkf")("id").primaryKey(),
    projectId: project(),
    programId: program(),
    /**
     * The version for which the backfill was requested. The backfill continues as long as the schedule has the definition of this version.
     */
    version: integer("version").notNull(),
    state: oneOf(backfillStates)("state").notNull(),
    reason: oneOf(backfillReasons)("reason").notNull().default(""),
    since: time("since").notNull(),
    until: time("until").notNull(),
    /** True if the backfill starts another run for due times or events that already have a run. If false, it leaves these out. */
    again: boolean("again").notNull(),
    /** Maximum number of runs that the backfill starts per minute. */
    perMinute: integer("per_minute").notNull(),
    /** Overlap policy of the backfill's runs: what svc does with a run that is due while other runs are active. */
    policy: oneOf(overlapPolicies)("policy").notNull(),
    /** Number of due times or events in the time range of the backfill (runs for past times), counted when the backfill begins. */
    total: integer("total").notNull(),
    /** Number of runs that the backfill has started or queued up to now. */
    started: integer("started").notNull().default(0),
    /** Number of runs of the backfill that were skipped or refused up to now. */
    skipped: integer("skipped").notNull().default(0),
    /**
     * Number of due times or events of the backfill that got no new run, because they already have a run or because the program's condition
     * `when` rejected them.
     */
    passed: integer("passed").notNull().default(0),
    /**
     * For a backfill of due times: the last due time that it has processed. Null before the first, and for a backfill of events, whose
     * position is in `positionEventId`.
     */
    positionAt: time("position_at"),
    /**
     * For a backfill of events: the last event that it has scanned; before the first scan, an id lower than all events of its range. Null
     * for a backfill of due times, whose position is in `positionAt`.
     */
    positionEventId: idColumn("evt")("position_event_id"),
    /**
     * The backfill (runs for past times) starts runs at a limited rate. The time since `pacedAt` determines how many runs it may start now.
     */
    pacedAt: time("paced_at").notNull(),
    callerKeyId: idColumn("key")("caller_key_id").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    endedAt: time("ended_at"),
  },
  (table) => [
    // A program has at most one running backfill.
    uniqueIndex("standing_backfills_running").on(table.programId).where(sql`ended_at is null`),
    index("standing_backfills_ended").on(table.endedAt).where(sql`ended_at is not null`),
    // This index finds events that a backfill has yet to process. svc keeps these events longer than their retention.
    index("standing_backfills_unreached")
      .on(table.projectId, table.positionEventId)
      .where(sql`ended_at is null and position_event_id is not null`),
  ],
);

/**
 * State of the rate limits of standing programs (schedules): one row for each program and rate key. Runs with different rate keys are
 * limited separately.
 */
export const standingRates = pgTable(
  "standing_rates",
  {
    programId: program(),
    key: text("key").notNull(),
    /**
     * Time at which the next run of the schedule would start if its starts were spread evenly. The rate limit is computed from it
     * (theoretical arrival time of the algorithm GCRA).
     */
    at: time("at").notNull(),
  },
  (table) => [
    primaryKey({ name: "standing_rates_key", columns: [table.programId, table.key] }),
    index("standing_rates_at").on(table.at),
  ],
);

/**
 * Usage of a standing program (a program that starts jobs on a schedule or event) by its runs: calls and writes per day, for its daily
 * budget. Days are in the program's time zone.
 */
export const standingUsage = pgTable(
  "standing_usage",
  {
    programId: program(),
    /** The day, such as `2026-03-14`. */
    day: text("day").notNull(),
    runs: integer("runs").notNull(),
    toolCalls: bigint("tool_calls", { mode: "number" }).notNull(),
    writes: bigint("writes", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ name: "standing_usage_key", columns: [table.programId, table.day] })],
);

/**
 * Subscriptions of standing programs (schedules) to triggers. A row is valid from one version of the project's routing (a number that grows
 * with each change) to another. An event starts the program if it was stored at a version between these, so no clock is involved.
 */
export const standingListeners = pgTable(
  "standing_listeners",
  {
    programId: program(),
    fromVersion: bigint("from_version", { mode: "number" }).notNull(),
    projectId: project(),
    triggerSlug: text("trigger_slug").notNull(),
    /** Number of the program's version for which this subscription was made. */
    version: integer("version").notNull(),
    /**
     * The schedule receives events that were stored before this routing version of the project. The routing version grows when the
     * receivers of the project's events change. Null while the schedule still receives events.
     */
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
 * The inbox of standing programs (schedules). It contains events for which svc has not yet decided which schedules of the project they
 * start. An event has one row, even if several schedules subscribe to it. The row is stored with its event. The transaction that stores the
 * decision deletes the row.
 */
export const standingArrivals = pgTable(
  "standing_arrivals",
  {
    /**
     * Time at which svc received the event. It is part of the primary key and therefore never changes. If a decision about the event fails,
     * the next attempt comes when the failed attempt's lease (its node's time-limited right to the event) ends.
     */
    dueAt: time("due_at").notNull(),
    projectId: idColumn("prj")("project_id").notNull(),
    eventId: idColumn("evt")("event_id").notNull(),
    triggerSlug: text("trigger_slug").notNull(),
    /**
     * Routing version of the project at the time the event was stored. This number grows with each change of the subscriptions of the
     * project.
     */
    routingVersion: bigint("routing_version", { mode: "number" }).notNull(),
    attempt: integer("attempt").notNull().default(0),
    leaseOwner: idColumn("node")("lease_owner"),
    /**
     * A number that grows each time a node claims the row (takes it for a limited time). A write with an older number is refused, because
     * the node that makes it has lost its lease.
     */
    leaseToken: bigint("lease_token", { mode: "number" }).notNull().default(0),
    leaseUntil: time("lease_until"),
  },
  // The key begins with the project. So each project has its own queue, and a scan can hop from one project to the next.
  (table) => [primaryKey({ name: "standing_arrivals_key", columns: [table.projectId, table.dueAt, table.eventId] })],
);

/**
 * State of the polls of standing programs (schedules), such as the position in the polled list. It is written together with the runs that a
 * poll creates.
 */
export const standingPolls = pgTable("standing_polls", {
  programId: program().primaryKey(),
  projectId: project(),
  /**
   * Number of the current generation of known row ids. Each stored row id has the number of its generation. svc increments this number to
   * forget all row ids at once: only those with the current number count as known.
   */
  generation: integer("generation").notNull(),
  /**
   * SHA-256 of what the schedule polls: the list, and the field that identifies its rows. If a new version of the schedule has another
   * value, all stored row ids and the position become useless, and polling starts again from the beginning.
   */
  identity: bytes("identity").notNull(),
  /**
   * How far the polls have read the tool's list: the cursor, and where an unfinished reading continues. JSON, sealed for the context
   * `<project>/standing_polls/<program>`.
   */
  state: bytes("state").notNull(),
  /** True if the poll (the repeated reading of a tool's list) has read the whole list once. Later, only new rows start runs. */
  isPrimed: boolean("is_primed").notNull(),
  /** Number of polls of the schedule whose outcome is stored. The id of the next poll is made from this number. */
  polls: count("polls"),
  /** Number of different row ids that the polls of this schedule have found and svc still remembers. */
  seen: integer("seen").notNull(),
  /**
   * True if row ids of earlier generations still have to be deleted. Each row id belongs to a generation. If svc must forget all known row
   * ids, the number of the generation changes.
   */
  hasStale: boolean("has_stale").notNull(),
  polledAt: time("polled_at").notNull(),
  outcome: oneOf(pollOutcomes)("outcome").notNull(),
  /**
   * Detail of the poll's outcome. If the poll failed: the outcome of the read, or the name of the part that was missing in the tool's
   * answer. If the poll stopped at a limit: the name of the limit.
   */
  code: text("code").notNull(),
  /** Details of the error that the column `code` names, for people. */
  detail: text("detail").notNull(),
  /** Pages that the last poll read. `rows`: rows that it read. `found`: rows that it found, as new or changed. */
  pages: integer("pages").notNull(),
  rows: integer("rows").notNull(),
  found: integer("found").notNull(),
  /** Number of failed polls of the schedule since its last successful poll. */
  failuresInRow: integer("failures_in_row").notNull(),
});

/** Ids of the rows that the polls of schedules have already found in their lists. By these ids, a poll recognizes which rows are new. */
export const standingSeen = pgTable(
  "standing_seen",
  {
    programId: program(),
    generation: integer("generation").notNull(),
    /** The first 16 bytes of the SHA-256 of the row's id. */
    digest: bytes("digest").notNull(),
    /**
     * Digest of those fields of the polled row that the schedule keeps. A new digest shows that the row has changed. Empty if the schedule
     * looks only for new rows.
     */
    content: bytes("content").notNull(),
    /** When a poll last read the row, accurate to a day. */
    seenAt: time("seen_at").notNull(),
  },
  (table) => [primaryKey({ name: "standing_seen_key", columns: [table.programId, table.generation, table.digest] })],
);

/** Events that a run with a collect window gathered for its job. For each schedule, an event is in at most one run. */
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

/**
 * Dedupe keys of a standing program (a schedule), each stored until it expires. The program's `dedupe` computes the key of an event. An
 * event with a stored key is a repeat, and starts nothing.
 */
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

/** The newest version of time zone data that any node had, in one row. A node with older data must not compute times of schedules. */
export const standingState = pgTable("standing_state", {
  id: integer("id").primaryKey(),
  /** Newest version of time zone data that a node had. A node with older data changes no schedule. */
  tzVersion: text("tz_version").notNull(),
});
