import type { Executor } from "../connect.ts";
import {
  addBackfill,
  type BackfillRecord,
  cancelBackfill,
  findBackfill,
  findRunningBackfill,
} from "../standing/backfills.ts";
import { closeStandingListener, countStandingListeners, openStandingListener } from "../standing/listeners.ts";
import {
  addStandingVersion,
  clearDueTasks,
  decideStandingVersion,
  standingProgramsForProject,
} from "../standing/programs.ts";
import { standingRunsForProject } from "../standing/runs.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
/** The one with thousands of runs, a hundred of which are under way. */
const programId = seededId("stp", 1);
const newProgramId = seededId("stp", 500_000);
const backfillId = seededId("bkf", 1);
const digest = Buffer.alloc(32);
const byId = ["standing_programs_pkey(id)", "standing_programs_project(project_id, id)"];

const backfill: BackfillRecord = {
  ...{ id: seededId("bkf", 500_000), projectId, programId: newProgramId, version: 1 },
  ...{ since: seededAt(1), until: seededAt(2), again: false, perMinute: 60, total: 1 },
  ...{ started: 0, skipped: 0, passed: 0, positionAt: null, positionEventId: null, pacedAt: nowMs },
  ...{ callerKeyId: seededId("key", 1), createdAt: nowMs, updatedAt: nowMs, endedAt: null },
  state: "running",
  reason: "",
  policy: "queueAll",
};

const estimate = {
  ...{ callsMin: 0, callsMax: 0, writesMax: 0, destructiveMax: 0, rowsMax: 0, asksMax: 0 },
  ...{ accessClasses: [], toolkits: [], entities: [], notCompensable: [] },
};

const programs = (db: Executor) => standingProgramsForProject(db, projectId);
const runs = (db: Executor) => standingRunsForProject(db, projectId);

const backfillPlans: readonly Plan[] = [
  { name: "store a backfill", run: (db) => addBackfill(db, backfill), reads: {} },
  {
    name: "a backfill of a project",
    run: (db) => findBackfill(db, projectId, backfillId),
    reads: { standing_backfills: "standing_backfills_pkey(id)" },
  },
  {
    name: "the backfill of a program that has not ended",
    run: (db) => findRunningBackfill(db, programId),
    reads: { standing_backfills: "standing_backfills_running(program_id)" },
  },
  {
    name: "end a backfill before its time",
    run: (db) => cancelBackfill(db, { id: backfillId, programId }, { reason: "requested", nowMs }),
    reads: { standing_backfills: "standing_backfills_pkey(id)" },
  },
];

const listenerPlans: readonly Plan[] = [
  {
    name: "let a program listen to a trigger",
    words: `insert into "standing_listeners"`,
    run: (db) =>
      openStandingListener(db, { programId: newProgramId, projectId, triggerSlug: "desk.changed", version: 1 }),
    reads: {},
  },
  {
    name: "let a program listen to nothing any more",
    words: `update "standing_listeners"`,
    run: (db) => closeStandingListener(db, { programId, projectId, reason: "deleted", nowMs }),
    reads: { standing_listeners: "standing_listeners_key(program_id)" },
  },
  {
    name: "how many programs listen to a trigger",
    run: (db) => countStandingListeners(db, projectId, "desk.changed"),
    reads: { standing_listeners: "standing_listeners_trigger(project_id, trigger_slug)" },
  },
];

const programPlans: readonly Plan[] = [
  { name: "a standing program", run: (db) => programs(db).find(programId), reads: { standing_programs: byId } },
  {
    name: "the standing program of a slug",
    run: (db) => programs(db).findBySlug("p1"),
    reads: { standing_programs: "standing_programs_slug(project_id, slug)" },
  },
  {
    name: "count_standing_programs",
    run: (db) => programs(db).count(),
    reads: { standing_programs: "standing_programs_state(state, project_id)" },
  },
  {
    name: "add a standing program",
    run: (db) =>
      programs(db).add({
        ...{ id: newProgramId, slug: "new", title: "", version: 1, createdAt: nowMs, updatedAt: nowMs },
        state: "active",
        sourceKind: "schedule",
      }),
    reads: {},
  },
  {
    name: "change a standing program",
    run: (db) => programs(db).change(programId, { title: "" }),
    reads: { standing_programs: byId },
  },
  {
    name: "the newest versions of a standing program",
    run: (db) => programs(db).listVersions(programId, 20),
    reads: { standing_versions: "standing_versions_key(program_id)" },
    isOrdered: true,
  },
  {
    name: "decide about a version of a standing program",
    run: (db) => decideStandingVersion(db, { programId, version: 1 }, { approval: "granted" }),
    reads: { standing_versions: "standing_versions_key(program_id, version)" },
  },
  {
    name: "add a version of a standing program",
    run: (db) =>
      addStandingVersion(db, {
        ...{ programId, version: 2, definition: digest, definitionHash: "", programHash: "", programDigest: digest },
        ...{ estimate, needsApproval: false, keyId: seededId("key", 1), createdAt: nowMs },
        keyRole: "member",
      }),
    reads: {},
  },
  {
    name: "end tasks of a standing program",
    run: (db) => clearDueTasks(db, programId, ["fire", "poll"]),
    reads: { due_tasks: ["due_tasks_key(owner_id, kind)", "due_tasks_key(owner_id)"] },
  },
];

const runPlans: readonly Plan[] = [
  {
    name: "a run of a standing program",
    run: (db) => runs(db).find(seededId("srn", 1)),
    reads: { standing_runs: "standing_runs_pkey(id)" },
  },
  {
    name: "the run of an occurrence",
    run: (db) => runs(db).findBySource(programId, "s:1"),
    reads: { standing_runs: "standing_runs_source(program_id, source_key)" },
  },
  {
    name: "skip_open_standing_runs",
    run: (db) => runs(db).skipOpen(programId, "deleted", nowMs),
    reads: {
      standing_runs: [
        "standing_runs_queued(program_id)",
        "standing_runs_oldest(program_id)",
        "standing_runs_closing(program_id)",
        "standing_runs_pkey(id)",
      ],
    },
  },
  {
    name: "list_started_standing_jobs",
    run: (db) => runs(db).listStartedJobs(programId),
    reads: { standing_runs: "standing_runs_running(program_id)" },
  },
];

/** Standing programs and what is of them, as callers and people ask for them: by the query builder. */
export const standingRepositoryPlans: readonly Plan[] = [
  ...backfillPlans,
  ...listenerPlans,
  ...programPlans,
  ...runPlans,
];
