import { firstUuidAt } from "@svc/core";
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
} from "../src/standing/backfills.ts";
import {
  addStandingUsage,
  findUsableKeys,
  readStandingRates,
  readStandingUsage,
  sweepStandingRates,
  writeStandingRates,
} from "../src/standing/bounds.ts";
import { claimDueTasks } from "../src/standing/claim.ts";
import {
  countOpenStandingRuns,
  listWaitingConcurrencyKeys,
  readConcurrencyKeyUsages,
  readQueuedStandingRuns,
  readStandingWakes,
  skipLateStandingRuns,
} from "../src/standing/concurrency-keys.ts";
import {
  countStartedStandingRuns,
  countUnendedStandingRuns,
  endStandingRun,
  lockStandingStarts,
  wakeWaitingStandingRuns,
} from "../src/standing/end.ts";
import {
  claimInbox,
  deleteFromInbox,
  lockInboxLeases,
  readInboxEvents,
  releaseInboxLeases,
} from "../src/standing/inbox.ts";
import {
  findKnownIds,
  forgetKnownIds,
  readStandingPolls,
  refreshKnownIds,
  rememberIds,
  removeStaleIds,
  sweepKnownIds,
  writeStandingPoll,
} from "../src/standing/polls.ts";
import {
  changeStandingPrograms,
  loadStandingVersions,
  lockStandingPrograms,
  readStandingPrograms,
  type StandingProgramChange,
  standingProgramsForProject,
} from "../src/standing/programs.ts";
import {
  changeStandingRuns,
  countEndedStandingRuns,
  insertStandingRuns,
  mergeSkippedStandingRuns,
  type NewStandingRun,
  readLastStandingRuns,
  standingRunsForProject,
} from "../src/standing/runs.ts";
import { armLostStandingPrograms, sweepStandingPrograms, sweepStandingRuns } from "../src/standing/sweep.ts";
import {
  deleteDueTasks,
  holdDueTasks,
  moveDueTasks,
  putDueTasks,
  releaseDueTasks,
  renewDueTasks,
} from "../src/standing/task.ts";
import { countOtherEntityEvents, findReferencedEntities } from "../src/standing/trigger-entities.ts";
import { findTriggerSubscriptions, sweepTriggerSubscriptions } from "../src/standing/trigger-subscriptions.ts";
import {
  changeStandingWindows,
  insertStandingRunEvents,
  nextStandingCloses,
  readClosingStandingWindows,
  readKnownKeys,
  readLastStandingRunEvents,
  readStandingRunEvents,
  readStandingWindows,
  sweepKnownKeys,
  writeKnownKeys,
} from "../src/standing/windows.ts";
import {
  listZonedStandingPrograms,
  raiseStandingTzVersion,
  readStandingTzVersion,
  rearmStandingSchedules,
} from "../src/standing/zones.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
/** Id of a standing program (a schedule) in the generated test data that has thousands of runs. */
const programId = seededId("stp", 1);
const programIds = Array.from({ length: 20 }, (_, index) => seededId("stp", index + 1));
/**
 * Id of a standing program (a schedule) in the generated test data that has thousands of queued runs. All of these runs have the same
 * concurrency key.
 */
const queuedId = seededId("stp", 2);
const queuedIds = [queuedId, ...programIds.slice(2)];
const runId = seededId("srn", 1);
const lease = { ownerId: programId, kind: "fire", subject: "", leaseToken: 1 } as const;
const task = { ownerId: programId, kind: "fire", subject: "", projectId, dueAt: nowMs } as const;
const arrival = { dueAt: seededAt(1), projectId, eventId: seededId("evt", 1), leaseToken: 1 };

const walk = {
  ...{ projectId, triggerSlug: "code_host.issue_1", entityId: undefined },
  fromUuid: firstUuidAt(seededAt(0)),
  beforeUuid: firstUuidAt(seededAt(100_000)),
};

const seen = { programId, generation: 1, seenAt: nowMs };
const digest = "00".repeat(16);
const poll = {
  ...{ programId, projectId, generation: 1, identity: Buffer.alloc(32), state: Buffer.alloc(1) },
  ...{ isPrimed: true, polls: 1, seen: 1, hasStale: false, polledAt: nowMs, code: "", detail: "" },
  outcome: "ok",
  ...{ pages: 1, rows: 1, found: 0, failuresInRow: 0 },
} as const;

const decided = {
  detail: "",
  notBefore: null,
  startFailures: 0,
  startedAt: null,
  endedAt: null,
  jobId: null,
  blockingJobId: null,
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

const change: StandingProgramChange = {
  ...{ id: programId, pauseDetail: "", nextAt: nowMs, previousAt: null },
  state: "active",
  pauseReason: "",
  ...{ started: 1, skipped: 0, missed: 0, failuresInRow: 0, updatedAt: nowMs, seen: 0, filtered: 0 },
};

const everyRun = { state: undefined, reason: undefined, sinceMs: undefined, untilMs: undefined };

// Recorded query plans of statements on standing programs (schedules), their runs and due tasks.
plan(
  "claim_due_tasks",
  (db) => claimDueTasks(db, { owner: seededId("node", 1), nowMs, leaseUntilMs: nowMs + 30_000, limit: 10 }),
  { rowsMax: { due_tasks: 1_500 } },
);
plan("read_tz_version", (db) => readStandingTzVersion(db));
plan("raise_tz_version", (db) => raiseStandingTzVersion(db, "2026d"));
plan("list_zoned_standing_programs", (db) => listZonedStandingPrograms(db, programId, 1_000));
plan("rearm_standing_schedules", (db) =>
  rearmStandingSchedules(db, [{ id: programId, nextAt: nowMs, updatedAt: nowMs, dueAt: nowMs }]),
);
plan("hold_due_tasks", (db) => holdDueTasks(db, [lease]));
plan("delete_due_tasks", (db) => deleteDueTasks(db, [lease]));
plan("move_due_tasks", (db) => moveDueTasks(db, [{ ...lease, dueAt: nowMs }]));
plan("release_due_tasks", (db) => releaseDueTasks(db, [lease], nowMs));
plan("renew_due_tasks", (db) => renewDueTasks(db, [lease], nowMs));
plan("read_standing_polls", (db) => readStandingPolls(db, programIds));
plan("write_standing_poll", (db) => writeStandingPoll(db, poll));
plan("find_standing_seen", (db) => findKnownIds(db, seen, [digest]));
plan("remember_standing_seen", (db) => rememberIds(db, seen, [{ digest, content: "" }]));
plan("refresh_standing_seen", (db) => refreshKnownIds(db, seen, [digest]));
plan("forget_standing_seen", (db) => forgetKnownIds(db, { ...seen, beforeMs: seededAt(10), limit: 100 }));
plan("remove_stale_standing_seen", (db) => removeStaleIds(db, seen, 100));
plan("sweep_standing_seen", (db) => sweepKnownIds(db, 100));
plan("skip_queued_backfill_runs", (db) =>
  cancelBackfill(db, { id: seededId("bkf", 1), programId }, { reason: "requested", nowMs }),
);
plan("count_waiting_standing_runs", (db) => countWaitingRuns(db, programId, 20));
plan("find_standing_run_sources", (db) => findSourceRuns(db, programId, ["s:1"]));
plan("rename_standing_run_sources", (db) => renameSourceRuns(db, [{ id: runId, sourceKey: "b:1" }]));
plan("walk_backfill_events", (db) => walkBackfillEvents(db, walk, 10), { rowsMax: { events: 10 } });
plan(
  "count_passed_over_events",
  (db) =>
    countOtherEntityEvents(db, {
      projectId,
      triggerSlug: walk.triggerSlug,
      entityId: "entity-1",
      sinceMs: seededAt(1),
    }),
  { rowsMax: { events: 1_000 } },
);
plan("find_referenced_entities", (db) =>
  findReferencedEntities(db, { projectId, toolkitSlug: "watcher", entityId: "entity-1" }),
);
plan("count_backfill_events", (db) => countBackfillEvents(db, walk, 10), { rowsMax: { events: 10 } });
plan("find_taken_events", (db) =>
  findTakenEvents(db, { programId, projectId }, [{ id: seededId("evt", 1), receivedAt: seededAt(1) }]),
);
plan("arm_lost_backfills", (db) => armLostBackfills(db, nowMs, 10));
plan("list_still_backfills", (db) => listStillBackfills(db, seededAt(10), 10));
plan("sweep_backfills", (db) => sweepBackfills(db, seededAt(10), 100));
plan("put_due_tasks", (db) => putDueTasks(db, [task]));
plan(
  "claim_standing_arrivals",
  (db) =>
    claimInbox(db, {
      ...{ owner: seededId("node", 1), nowMs, leaseUntilMs: nowMs + 30_000, limit: 10 },
      after: undefined,
    }),
  { rowsMax: { standing_arrivals: 500 } },
);
plan("hold_standing_arrivals", (db) => lockInboxLeases(db, [arrival]));
plan("delete_standing_arrivals", (db) => deleteFromInbox(db, [arrival]));
plan("release_standing_arrivals", (db) => releaseInboxLeases(db, [arrival], nowMs));
plan("read_arrived_events", (db) => readInboxEvents(db, [arrival], 1_000_000));
plan("find_standing_listeners", (db) =>
  findTriggerSubscriptions(db, [{ projectId, triggerSlug: "desk.changed", routingVersion: 1 }]),
);
plan("read_standing_windows", (db) => readStandingWindows(db, [{ programId, lane: "" }]));
plan("read_closing_standing_windows", (db) => readClosingStandingWindows(db, programIds, { nowMs, most: 100 }), {
  rowsMax: { standing_arrivals: 20 },
});
plan("next_standing_closes", (db) => nextStandingCloses(db, programIds), { rowsMax: { standing_arrivals: 20 } });
plan("change_standing_windows", (db) =>
  changeStandingWindows(db, [
    {
      ...{ ...decided, id: runId, state: "queued", reason: "", lane: "", rateKey: "", input: null },
      ...{ count: 2, bytes: 10, lastAt: nowMs, decidedAt: nowMs },
    },
  ]),
);
plan("insert_standing_run_events", (db) =>
  insertStandingRunEvents(db, [{ eventId: seededId("evt", 900_000), programId, runId }]),
);
plan("read_standing_run_events", (db) => readStandingRunEvents(db, [runId], 100));
plan("read_last_standing_run_events", (db) => readLastStandingRunEvents(db, [runId]));
plan("read_standing_dedupe", (db) => readKnownKeys(db, [{ programId, key: "k1" }]));
plan("write_standing_dedupe", (db) => writeKnownKeys(db, [{ programId, key: "k", until: nowMs }]));
plan("sweep_standing_dedupe", (db) => sweepKnownKeys(db, seededAt(10), 100));
plan("sweep_standing_listeners", (db) => sweepTriggerSubscriptions(db, seededAt(10), 100));
plan("read_standing_programs", (db) => readStandingPrograms(db, programIds));
plan("lock_standing_programs", (db) => lockStandingPrograms(db, programIds));
plan("change_standing_programs", (db) => changeStandingPrograms(db, [change]));
plan("load_standing_versions", (db) => loadStandingVersions(db, [{ programId, version: 1 }]));
plan("insert_standing_runs", (db) => insertStandingRuns(db, [newRun]));
plan("change_standing_runs", (db) =>
  changeStandingRuns(db, [{ ...decided, id: runId, state: "queued", reason: "overlap" }]),
);
plan("read_standing_lanes", (db) => readConcurrencyKeyUsages(db, [{ programId: queuedId, lane: "", most: 100 }]), {
  rowsMax: { standing_runs: 120 },
});
plan("list_waiting_standing_lanes", (db) => listWaitingConcurrencyKeys(db, queuedIds), {
  rowsMax: { standing_runs: 60 },
});
plan("count_open_standing_runs", (db) => countOpenStandingRuns(db, queuedIds));
plan("read_queued_standing_runs", (db) => readQueuedStandingRuns(db, [{ programId: queuedId, lane: "", room: 1 }]), {
  rowsMax: { standing_runs: 10 },
});
plan("read_standing_wakes", (db) => readStandingWakes(db, queuedIds, nowMs), { rowsMax: { standing_runs: 60 } });
plan("skip_late_standing_runs", (db) => skipLateStandingRuns(db, [{ programId: queuedId, beforeMs: nowMs }], nowMs));
plan("count_ended_standing_runs", (db) => countEndedStandingRuns(db, programIds));
plan("merge_skipped_standing_runs", (db) =>
  mergeSkippedStandingRuns(db, [{ programId, reason: "overlap", lane: "", at: nowMs, more: 1 }]),
);
plan("read_last_standing_runs", (db) => readLastStandingRuns(db, programIds));
plan("end_standing_run", (db) =>
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
);
plan("count_started_standing_runs", (db) => countStartedStandingRuns(db, projectId, 200));
plan("count_unended_standing_runs", (db) => countUnendedStandingRuns(db, projectId, 200), {
  rowsMax: { standing_runs: 200 },
});
plan("lock_standing_starts", (db) => lockStandingStarts(db, projectId, { isShared: true }));
plan("wake_waiting_standing_runs", (db) => wakeWaitingStandingRuns(db, { projectId, most: 10, nowMs }));
plan("read_standing_rates", (db) => readStandingRates(db, [{ programId, key: "" }]));
plan("write_standing_rates", (db) => writeStandingRates(db, [{ programId, key: "", at: nowMs }]));
plan("sweep_standing_rates", (db) => sweepStandingRates(db, seededAt(10), 100));
plan("read_standing_usage", (db) => readStandingUsage(db, [{ programId, day: "2026-01-05" }]));
plan("add_standing_usage", (db) =>
  addStandingUsage(db, [{ programId, day: "2026-01-05", runs: 1, toolCalls: 0, writes: 0 }]),
);
plan("find_usable_keys", (db) => findUsableKeys(db, [seededId("key", 1)], nowMs));
plan("sweep_standing_runs", (db) => sweepStandingRuns(db, seededAt(10), 100));
plan("sweep_standing_programs", (db) => sweepStandingPrograms(db, seededAt(10), 100));
plan("arm_lost_standing_programs", (db) => armLostStandingPrograms(db, seededAt(10), 100));
plan("list_standing_programs", (db) =>
  standingProgramsForProject(db, projectId).list(
    { state: undefined, sourceKind: undefined },
    { after: undefined, limit: 51 },
  ),
);
plan("list_standing_runs", (db) =>
  standingRunsForProject(db, projectId).list(
    programId,
    { ...everyRun, reason: "overlap", sinceMs: nowMs },
    { after: undefined, limit: 51 },
  ),
);
