import type { Executor } from "../src/connect.ts";
import {
  addBackfill,
  type BackfillRecord,
  cancelBackfill,
  findBackfill,
  findRunningBackfill,
} from "../src/standing/backfills.ts";
import {
  addStandingVersion,
  clearDueTasks,
  decideStandingVersion,
  standingProgramsForProject,
} from "../src/standing/programs.ts";
import { standingRunsForProject } from "../src/standing/runs.ts";
import {
  closeTriggerSubscription,
  countTriggerSubscriptions,
  openTriggerSubscription,
} from "../src/standing/trigger-subscriptions.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
/** A standing program (a schedule) of the generated test data that has thousands of runs. A hundred of these runs have started. */
const programId = seededId("stp", 1);
const newProgramId = seededId("stp", 500_000);
const backfillId = seededId("bkf", 1);
const digest = Buffer.alloc(32);

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

plan("store a backfill", (db) => addBackfill(db, backfill));
plan("a backfill of a project", (db) => findBackfill(db, projectId, backfillId));
plan("the backfill of a program that has not ended", (db) => findRunningBackfill(db, programId));
plan("end a backfill before its time", (db) =>
  cancelBackfill(db, { id: backfillId, programId }, { reason: "requested", nowMs }),
);

plan("let a program listen to a trigger", (db) =>
  openTriggerSubscription(db, { programId: newProgramId, projectId, triggerSlug: "desk.changed", version: 1 }),
);
plan("let a program listen to nothing any more", (db) =>
  closeTriggerSubscription(db, { programId, projectId, reason: "deleted", nowMs }),
);
plan("how many programs listen to a trigger", (db) => countTriggerSubscriptions(db, projectId, "desk.changed"));

plan("a standing program", (db) => programs(db).find(programId));
plan("the standing program of a slug", (db) => programs(db).findBySlug("p1"));
plan("count_standing_programs", (db) => programs(db).count());
plan("add a standing program", (db) =>
  programs(db).add({
    ...{ id: newProgramId, slug: "new", title: "", version: 1, createdAt: nowMs, updatedAt: nowMs },
    state: "active",
    sourceKind: "schedule",
  }),
);
plan("change a standing program", (db) => programs(db).change(programId, { title: "" }));
plan("the newest versions of a standing program", (db) => programs(db).listVersions(programId, 20));
plan("decide about a version of a standing program", (db) =>
  decideStandingVersion(db, { programId, version: 1 }, { approval: "granted" }),
);
plan("add a version of a standing program", (db) =>
  addStandingVersion(db, {
    ...{ programId, version: 2, definition: digest, definitionHash: "", programHash: "", programDigest: digest },
    ...{ estimate, needsApproval: false, keyId: seededId("key", 1), createdAt: nowMs },
    keyRole: "member",
  }),
);
plan("end tasks of a standing program", (db) => clearDueTasks(db, programId, ["fire", "poll"]));

plan("a run of a standing program", (db) => runs(db).find(seededId("srn", 1)));
plan("the run of an occurrence", (db) => runs(db).findBySource(programId, "s:1"));
plan("skip_open_standing_runs", (db) => runs(db).skipOpen(programId, "deleted", nowMs));
plan("list_started_standing_jobs", (db) => runs(db).listStartedJobs(programId));
