import { firstUuidAt } from "@svc/core";
import {
  claimStandingArrivals,
  deleteStandingArrivals,
  holdStandingArrivals,
  readArrivedEvents,
  releaseStandingArrivals,
} from "../standing/arrivals.ts";
import {
  armLostBackfills,
  cancelBackfill,
  countBackfillEvents,
  countWaitingRuns,
  findSourceRuns,
  findTakenEvents,
  listStillBackfills,
  renameSourceRuns,
  sweepBackfills,
  walkBackfillEvents,
} from "../standing/backfills.ts";
import {
  addStandingUsage,
  findUsableKeys,
  readStandingRates,
  readStandingUsage,
  sweepStandingRates,
  writeStandingRates,
} from "../standing/bounds.ts";
import { claimDueTasks } from "../standing/claim.ts";
import { readSeenKeys, sweepSeenKeys, writeSeenKeys } from "../standing/dedupe.ts";
import {
  countStartedStandingRuns,
  countUnendedStandingRuns,
  endStandingRun,
  lockStandingStarts,
  wakeWaitingStandingRuns,
} from "../standing/end.ts";
import {
  countOpenStandingRuns,
  listWaitingStandingLanes,
  readQueuedStandingRuns,
  readStandingLanes,
  readStandingWakes,
  skipLateStandingRuns,
} from "../standing/lanes.ts";
import { findStandingListeners, sweepStandingListeners } from "../standing/listeners.ts";
import { noteStandingNotices } from "../standing/notices.ts";
import { countPassedOver, findReferencedEntities } from "../standing/passed-over.ts";
import {
  findStandingSeen,
  forgetStandingSeen,
  readStandingPolls,
  refreshStandingSeen,
  rememberStandingSeen,
  removeStaleStandingSeen,
  sweepStandingSeen,
  writeStandingPoll,
} from "../standing/polls.ts";
import {
  changeStandingPrograms,
  loadStandingVersions,
  lockStandingPrograms,
  readStandingPrograms,
  type StandingProgramChange,
  standingProgramsForProject,
} from "../standing/programs.ts";
import {
  changeStandingRuns,
  countEndedStandingRuns,
  insertStandingRuns,
  mergeSkippedStandingRuns,
  type NewStandingRun,
  readLastStandingRuns,
  standingRunsForProject,
} from "../standing/runs.ts";
import {
  deleteDueTasks,
  holdDueTasks,
  moveDueTasks,
  putDueTasks,
  releaseDueTasks,
  renewDueTasks,
} from "../standing/settle-tasks.ts";
import { armLostStandingPrograms, sweepStandingPrograms, sweepStandingRuns } from "../standing/sweep.ts";
import {
  changeStandingWindows,
  insertStandingRunEvents,
  nextStandingCloses,
  readClosingStandingWindows,
  readLastStandingRunEvents,
  readStandingRunEvents,
  readStandingWindows,
} from "../standing/windows.ts";
import {
  listZonedStandingPrograms,
  raiseStandingTzVersion,
  readStandingTzVersion,
  rearmStandingSchedules,
} from "../standing/zones.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
/** The one with thousands of runs. */
const programId = seededId("stp", 1);
const programIds = Array.from({ length: 20 }, (_, index) => seededId("stp", index + 1));
/** The one with thousands of runs that wait in one lane. */
const queuedId = seededId("stp", 2);
const queuedIds = [queuedId, ...programIds.slice(2)];
const runId = seededId("srn", 1);
const lease = { ownerId: programId, kind: "fire", subject: "", leaseToken: 1 } as const;
const task = { ownerId: programId, kind: "fire", subject: "", projectId, dueAt: nowMs } as const;
const arrival = { dueAt: seededAt(1), projectId, eventId: seededId("evt", 1), leaseToken: 1 };
const arrivalKey = "standing_arrivals_key(project_id, due_at, event_id)";
const taskKey = "due_tasks_key(owner_id, kind, subject)";
const closingReads = {
  standing_runs: "standing_runs_closing(program_id, not_before)",
  standing_programs: "standing_programs_pkey(id)",
  standing_arrivals: "standing_arrivals_key(project_id)",
};
const queued = "standing_runs_queued(program_id, lane)";
const decided = {
  detail: "",
  notBefore: null,
  startFailures: 0,
  startedAt: null,
  endedAt: null,
  jobId: null,
  blockingJobId: null,
};

const walk = {
  ...{ projectId, triggerSlug: "code_host.issue_1", entityId: undefined },
  fromUuid: firstUuidAt(seededAt(0)),
  beforeUuid: firstUuidAt(seededAt(100_000)),
};

const newRun: NewStandingRun = {
  ...decided,
  ...{ id: seededId("srn", 500_000), projectId, programId, version: 1, sourceKey: "m:new", lane: "" },
  kind: "hand",
  state: "queued",
  reason: "",
  jobStatus: "",
  ...{
    count: 1,
    fireAt: nowMs,
    lastAt: null,
    missed: 0,
    previousAt: null,
    input: null,
    bytes: 0,
    rateKey: "",
    rowCount: 0,
    callerKeyId: null,
  },
  ...{ decidedAt: nowMs, toolCalls: 0, writes: 0, isCounted: false, backfillId: null },
};

const seen = { programId, generation: 1, seenAt: nowMs };
const digest = "00".repeat(16);
const seenKey = "standing_seen_key(program_id, generation, digest)";
const poll = {
  ...{ programId, projectId, generation: 1, identity: Buffer.alloc(32), state: Buffer.alloc(1) },
  ...{ isPrimed: true, polls: 1, seen: 1, hasStale: false, polledAt: nowMs, code: "", detail: "" },
  outcome: "ok",
  ...{ pages: 1, rows: 1, found: 0, failuresInRow: 0 },
} as const;

const change: StandingProgramChange = {
  ...{ id: programId, pauseDetail: "", nextAt: nowMs, previousAt: null },
  state: "active",
  pauseReason: "",
  ...{ started: 1, skipped: 0, missed: 0, failuresInRow: 0, updatedAt: nowMs, seen: 0, filtered: 0 },
};

const everyRun = { state: undefined, reason: undefined, sinceMs: undefined, untilMs: undefined };

/** Standing programs, their runs and what is due of them. */
export const standingPlans: readonly Plan[] = [
  {
    name: "claim_due_tasks",
    run: (db) => claimDueTasks(db, { owner: seededId("node", 1), nowMs, leaseUntilMs: nowMs + 30_000, limit: 10 }),
    reads: { due_tasks: ["due_tasks_due(due_at)", "due_tasks_project(project_id, due_at)", taskKey] },
    rowsMax: { due_tasks: 1_500 },
  },
  {
    name: "read_tz_version",
    run: (db) => readStandingTzVersion(db),
    reads: { standing_state: "standing_state_pkey(id)" },
  },
  { name: "raise_tz_version", run: (db) => raiseStandingTzVersion(db, "2026d"), reads: {} },
  {
    name: "list_zoned_standing_programs",
    run: (db) => listZonedStandingPrograms(db, programId, 1_000),
    reads: { standing_programs: "standing_programs_pkey(id)" },
  },
  {
    name: "rearm_standing_schedules",
    run: (db) => rearmStandingSchedules(db, [{ id: programId, nextAt: nowMs, updatedAt: nowMs, dueAt: nowMs }]),
    reads: { standing_programs: "standing_programs_pkey(id)", due_tasks: taskKey },
  },
  { name: "hold_due_tasks", run: (db) => holdDueTasks(db, [lease]), reads: { due_tasks: taskKey } },
  { name: "delete_due_tasks", run: (db) => deleteDueTasks(db, [lease]), reads: { due_tasks: taskKey } },
  {
    name: "move_due_tasks",
    run: (db) => moveDueTasks(db, [{ ...lease, dueAt: nowMs }]),
    reads: { due_tasks: taskKey },
  },
  { name: "release_due_tasks", run: (db) => releaseDueTasks(db, [lease], nowMs), reads: { due_tasks: taskKey } },
  { name: "renew_due_tasks", run: (db) => renewDueTasks(db, [lease], nowMs), reads: { due_tasks: taskKey } },
  {
    name: "read_standing_polls",
    run: (db) => readStandingPolls(db, programIds),
    reads: { standing_polls: "standing_polls_pkey(program_id)" },
  },
  { name: "write_standing_poll", run: (db) => writeStandingPoll(db, poll), reads: {} },
  {
    name: "find_standing_seen",
    run: (db) => findStandingSeen(db, seen, [digest]),
    reads: { standing_seen: seenKey },
  },
  {
    name: "remember_standing_seen",
    run: (db) => rememberStandingSeen(db, seen, [{ digest, content: "" }]),
    reads: {},
  },
  {
    name: "refresh_standing_seen",
    run: (db) => refreshStandingSeen(db, seen, [digest]),
    reads: { standing_seen: [seenKey, "ctid"] },
  },
  {
    name: "forget_standing_seen",
    run: (db) => forgetStandingSeen(db, { ...seen, beforeMs: seededAt(10), limit: 100 }),
    reads: { standing_seen: ["standing_seen_key(program_id, generation)", "ctid"] },
  },
  {
    name: "remove_stale_standing_seen",
    run: (db) => removeStaleStandingSeen(db, seen, 100),
    reads: { standing_seen: ["standing_seen_key(program_id, generation)", "ctid"] },
  },
  {
    name: "sweep_standing_seen",
    run: (db) => sweepStandingSeen(db, 100),
    reads: {
      standing_programs: "standing_programs_deleted()",
      standing_seen: ["standing_seen_key(program_id)", "ctid"],
    },
  },
  {
    name: "skip_queued_backfill_runs",
    run: (db) => cancelBackfill(db, { id: seededId("bkf", 1), programId }, { reason: "requested", nowMs }),
    reads: {
      standing_runs: ["standing_runs_queued(program_id)", "standing_runs_oldest(program_id)", "standing_runs_pkey(id)"],
    },
  },
  {
    name: "count_waiting_standing_runs",
    run: (db) => countWaitingRuns(db, programId, 20),
    reads: { standing_runs: "standing_runs_queued(program_id)" },
    isOrdered: true,
  },
  {
    name: "find_standing_run_sources",
    run: (db) => findSourceRuns(db, programId, ["s:1"]),
    reads: { standing_runs: "standing_runs_source(program_id, source_key)" },
  },
  {
    name: "rename_standing_run_sources",
    run: (db) => renameSourceRuns(db, [{ id: runId, sourceKey: "b:1" }]),
    reads: { standing_runs: "standing_runs_pkey(id)" },
  },
  {
    name: "walk_backfill_events",
    run: (db) => walkBackfillEvents(db, walk, 10),
    reads: { events: "events_trigger(trigger_slug, project_id, id)" },
    isOrdered: true,
    rowsMax: { events: 10 },
  },
  {
    name: "count_passed_over_events",
    run: (db) =>
      countPassedOver(db, { projectId, triggerSlug: walk.triggerSlug, entityId: "entity-1", sinceMs: seededAt(1) }),
    reads: { events: "events_trigger(trigger_slug, project_id, id)" },
    isOrdered: true,
    rowsMax: { events: 1_000 },
  },
  {
    name: "find_referenced_entities",
    run: (db) => findReferencedEntities(db, { projectId, toolkitSlug: "watcher", entityId: "entity-1" }),
    reads: { account_references: "account_references_project(project_id)" },
  },
  {
    name: "count_backfill_events",
    run: (db) => countBackfillEvents(db, walk, 10),
    reads: { events: "events_trigger(trigger_slug, project_id, id)" },
    isOrdered: true,
    rowsMax: { events: 10 },
  },
  {
    name: "find_taken_events",
    run: (db) => findTakenEvents(db, { programId, projectId }, [{ id: seededId("evt", 1), receivedAt: seededAt(1) }]),
    reads: {
      standing_arrivals: arrivalKey,
      standing_run_events: "standing_run_events_key(event_id, program_id)",
    },
  },
  {
    name: "arm_lost_backfills",
    run: (db) => armLostBackfills(db, nowMs, 10),
    reads: {
      standing_backfills: "standing_backfills_running()",
      standing_programs: "standing_programs_pkey(id)",
      due_tasks: taskKey,
    },
  },
  {
    name: "list_still_backfills",
    run: (db) => listStillBackfills(db, seededAt(10), 10),
    reads: { standing_backfills: "standing_backfills_running()" },
  },
  {
    name: "sweep_backfills",
    run: (db) => sweepBackfills(db, seededAt(10), 100),
    reads: { standing_backfills: ["standing_backfills_ended(ended_at)", "standing_backfills_pkey(id)"] },
  },
  {
    name: "note_standing_notices",
    run: (db) => noteStandingNotices(db, [{ programId, kind: "standing_paused" }], nowMs),
    reads: {},
  },
  { name: "put_due_tasks", run: (db) => putDueTasks(db, [task]), reads: {} },
  {
    name: "claim_standing_arrivals",
    run: (db) =>
      claimStandingArrivals(db, {
        ...{ owner: seededId("node", 1), nowMs, leaseUntilMs: nowMs + 30_000, limit: 10 },
        after: undefined,
      }),
    reads: {
      standing_arrivals: ["standing_arrivals_key(project_id)", "standing_arrivals_key(project_id, due_at)", arrivalKey],
    },
    rowsMax: { standing_arrivals: 500 },
  },
  {
    name: "hold_standing_arrivals",
    run: (db) => holdStandingArrivals(db, [arrival]),
    reads: { standing_arrivals: arrivalKey },
  },
  {
    name: "delete_standing_arrivals",
    run: (db) => deleteStandingArrivals(db, [arrival]),
    reads: { standing_arrivals: arrivalKey },
  },
  {
    name: "release_standing_arrivals",
    run: (db) => releaseStandingArrivals(db, [arrival], nowMs),
    reads: { standing_arrivals: arrivalKey },
  },
  {
    name: "read_arrived_events",
    run: (db) => readArrivedEvents(db, [arrival], 1_000_000),
    reads: { events: "events_key(project_id, id)" },
  },
  {
    name: "find_standing_listeners",
    run: (db) => findStandingListeners(db, [{ projectId, triggerSlug: "desk.changed", routingVersion: 1 }]),
    reads: { standing_listeners: "standing_listeners_trigger(project_id, trigger_slug, from_version)" },
  },
  {
    name: "read_standing_windows",
    run: (db) => readStandingWindows(db, [{ programId, lane: "" }]),
    reads: { standing_runs: "standing_runs_window(program_id, lane)" },
  },
  {
    name: "read_closing_standing_windows",
    run: (db) => readClosingStandingWindows(db, programIds, { nowMs, most: 100 }),
    reads: closingReads,
    rowsMax: { standing_arrivals: 20 },
  },
  {
    name: "next_standing_closes",
    run: (db) => nextStandingCloses(db, programIds),
    reads: closingReads,
    rowsMax: { standing_arrivals: 20 },
  },
  {
    name: "change_standing_windows",
    run: (db) =>
      changeStandingWindows(db, [
        {
          ...{ ...decided, id: runId, state: "queued", reason: "", lane: "", rateKey: "", input: null },
          ...{ count: 2, bytes: 10, lastAt: nowMs, decidedAt: nowMs },
        },
      ]),
    reads: { standing_runs: "standing_runs_pkey(id)" },
  },
  {
    name: "insert_standing_run_events",
    run: (db) => insertStandingRunEvents(db, [{ eventId: seededId("evt", 900_000), programId, runId }]),
    reads: {},
  },
  {
    name: "read_standing_run_events",
    run: (db) => readStandingRunEvents(db, [runId], 100),
    reads: { standing_run_events: "standing_run_events_run(run_id)" },
  },
  {
    name: "read_last_standing_run_events",
    run: (db) => readLastStandingRunEvents(db, [runId]),
    reads: { standing_run_events: "standing_run_events_run(run_id)" },
  },
  {
    name: "read_standing_dedupe",
    run: (db) => readSeenKeys(db, [{ programId, key: "k1" }]),
    reads: { standing_dedupe: "standing_dedupe_key(program_id, key)" },
  },
  { name: "write_standing_dedupe", run: (db) => writeSeenKeys(db, [{ programId, key: "k", until: nowMs }]), reads: {} },
  {
    name: "sweep_standing_dedupe",
    run: (db) => sweepSeenKeys(db, seededAt(10), 100),
    reads: { standing_dedupe: ["standing_dedupe_until(until)", "ctid"] },
  },
  {
    name: "sweep_standing_listeners",
    run: (db) => sweepStandingListeners(db, seededAt(10), 100),
    reads: { standing_listeners: ["standing_listeners_ended(ended_at)", "ctid"] },
  },
  {
    name: "read_standing_programs",
    run: (db) => readStandingPrograms(db, programIds),
    reads: { standing_programs: "standing_programs_pkey(id)" },
  },
  {
    name: "lock_standing_programs",
    run: (db) => lockStandingPrograms(db, programIds),
    reads: { standing_programs: "standing_programs_pkey(id)" },
  },
  {
    name: "change_standing_programs",
    run: (db) => changeStandingPrograms(db, [change]),
    reads: { standing_programs: "standing_programs_pkey(id)" },
  },
  {
    name: "load_standing_versions",
    run: (db) => loadStandingVersions(db, [{ programId, version: 1 }]),
    reads: { standing_versions: "standing_versions_key(program_id, version)" },
  },
  { name: "insert_standing_runs", run: (db) => insertStandingRuns(db, [newRun]), reads: {} },
  {
    name: "change_standing_runs",
    run: (db) => changeStandingRuns(db, [{ ...decided, id: runId, state: "queued", reason: "overlap" }]),
    reads: { standing_runs: "standing_runs_pkey(id)" },
  },
  {
    name: "read_standing_lanes",
    run: (db) => readStandingLanes(db, [{ programId: queuedId, lane: "", most: 100 }]),
    reads: { standing_runs: ["standing_runs_running(program_id, lane)", queued, `${queued.slice(0, -1)}, id)`] },
    rowsMax: { standing_runs: 120 },
  },
  {
    name: "list_waiting_standing_lanes",
    run: (db) => listWaitingStandingLanes(db, queuedIds),
    reads: { standing_runs: ["standing_runs_queued(program_id)", queued] },
    rowsMax: { standing_runs: 60 },
  },
  {
    name: "count_open_standing_runs",
    run: (db) => countOpenStandingRuns(db, queuedIds),
    reads: {
      standing_runs: [
        "standing_runs_queued(program_id)",
        "standing_runs_oldest(program_id)",
        "standing_runs_running(program_id)",
      ],
    },
  },
  {
    name: "read_queued_standing_runs",
    run: (db) => readQueuedStandingRuns(db, [{ programId: queuedId, lane: "", room: 1 }]),
    reads: { standing_runs: queued },
    rowsMax: { standing_runs: 10 },
  },
  {
    name: "read_standing_wakes",
    run: (db) => readStandingWakes(db, queuedIds, nowMs),
    reads: { standing_runs: ["standing_runs_ready(program_id, not_before)", "standing_runs_oldest(program_id)"] },
    rowsMax: { standing_runs: 60 },
  },
  {
    name: "skip_late_standing_runs",
    run: (db) => skipLateStandingRuns(db, [{ programId: queuedId, beforeMs: nowMs }], nowMs),
    reads: { standing_runs: ["standing_runs_oldest(program_id, decided_at)", "standing_runs_pkey(id)"] },
  },
  {
    name: "count_ended_standing_runs",
    run: (db) => countEndedStandingRuns(db, programIds),
    reads: { standing_runs: "standing_runs_uncounted(program_id)" },
  },
  {
    name: "merge_skipped_standing_runs",
    run: (db) => mergeSkippedStandingRuns(db, [{ programId, reason: "overlap", lane: "", at: nowMs, more: 1 }]),
    reads: { standing_runs: ["standing_runs_program(program_id, id)", "standing_runs_pkey(id)"] },
  },
  {
    name: "read_last_standing_runs",
    run: (db) => readLastStandingRuns(db, programIds),
    reads: { standing_runs: "standing_runs_program(program_id, id)" },
  },
  {
    name: "end_standing_run",
    run: (db) =>
      endStandingRun(db, {
        runId,
        programId,
        projectId,
        status: "succeeded",
        toolCalls: 1,
        writes: 0,
        pauseText: "",
        nowMs,
      }),
    reads: { standing_runs: "standing_runs_pkey(id)" },
  },
  {
    name: "count_started_standing_runs",
    run: (db) => countStartedStandingRuns(db, projectId, 200),
    reads: { standing_runs: "standing_runs_started(project_id)", jobs: "jobs_pkey(id)" },
  },
  {
    name: "count_unended_standing_runs",
    run: (db) => countUnendedStandingRuns(db, projectId, 200),
    reads: { standing_runs: "standing_runs_started(project_id)" },
    rowsMax: { standing_runs: 200 },
  },
  { name: "lock_standing_starts", run: (db) => lockStandingStarts(db, projectId, { isShared: true }), reads: {} },
  {
    name: "wake_waiting_standing_runs",
    run: (db) => wakeWaitingStandingRuns(db, { projectId, most: 10, nowMs }),
    reads: { standing_runs: "standing_runs_waiting(project_id)" },
  },
  {
    name: "read_standing_rates",
    run: (db) => readStandingRates(db, [{ programId, key: "" }]),
    reads: { standing_rates: "standing_rates_key(program_id, key)" },
  },
  { name: "write_standing_rates", run: (db) => writeStandingRates(db, [{ programId, key: "", at: nowMs }]), reads: {} },
  {
    name: "sweep_standing_rates",
    run: (db) => sweepStandingRates(db, seededAt(10), 100),
    reads: { standing_rates: ["standing_rates_at(at)", "ctid"] },
  },
  {
    name: "read_standing_usage",
    run: (db) => readStandingUsage(db, [{ programId, day: "2026-01-05" }]),
    reads: { standing_usage: "standing_usage_key(program_id, day)" },
  },
  {
    name: "add_standing_usage",
    run: (db) => addStandingUsage(db, [{ programId, day: "2026-01-05", runs: 1, toolCalls: 0, writes: 0 }]),
    reads: {},
  },
  {
    name: "find_usable_keys",
    run: (db) => findUsableKeys(db, [seededId("key", 1)], nowMs),
    reads: { api_keys: "api_keys_pkey(id)" },
  },
  {
    name: "sweep_standing_runs",
    run: (db) => sweepStandingRuns(db, seededAt(10), 100),
    reads: {
      standing_runs: ["standing_runs_ended(ended_at)", "standing_runs_pkey(id)"],
      standing_run_events: "standing_run_events_run(run_id)",
    },
  },
  {
    name: "sweep_standing_programs",
    run: (db) => sweepStandingPrograms(db, seededAt(10), 100),
    reads: {
      standing_programs: ["standing_programs_deleted(deleted_at)", "standing_programs_pkey(id)"],
      // Whether one is there is told by either.
      standing_runs: ["standing_runs_program(program_id)", "standing_runs_source(program_id)"],
      standing_versions: "standing_versions_key(program_id)",
      standing_usage: "standing_usage_key(program_id)",
      standing_polls: "standing_polls_pkey(program_id)",
      standing_seen: "standing_seen_key(program_id)",
      standing_listeners: "standing_listeners_key(program_id)",
      standing_dedupe: "standing_dedupe_key(program_id)",
      standing_notices: "standing_notices_key(program_id)",
    },
  },
  {
    name: "arm_lost_standing_programs",
    run: (db) => armLostStandingPrograms(db, seededAt(10), 100),
    reads: { standing_programs: "standing_programs_armed(next_at)", due_tasks: taskKey },
  },
  {
    name: "list_standing_programs",
    run: (db) =>
      standingProgramsForProject(db, projectId).list(
        { state: undefined, sourceKind: undefined },
        { after: undefined, limit: 51 },
      ),
    reads: {
      standing_programs: ["standing_programs_state(state, project_id, source_kind, id)", "standing_programs_pkey(id)"],
    },
  },
  {
    name: "list_standing_runs",
    run: (db) =>
      standingRunsForProject(db, projectId).list(
        programId,
        { ...everyRun, reason: "overlap", sinceMs: nowMs },
        { after: undefined, limit: 51 },
      ),
    reads: {
      standing_runs: [
        "standing_runs_unstarted(((state || ' '::text) || reason), program_id, id)",
        "standing_runs_over((state || ' '::text), program_id, id)",
        "standing_runs_running(program_id)",
        "standing_runs_windows((bytes > 0), program_id, decided_at)",
        "standing_runs_pkey(id)",
      ],
    },
  },
];
