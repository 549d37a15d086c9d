import type { Executor } from "../src/connect.ts";
import { countHeldWork, findRestore, noteRestore, resumeRestored } from "../src/restores/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt } from "./planner/seed.ts";

const note = { key: "backup", backupEndsAt: seededAt(1) };
const resume = async (db: Executor) => {
  await noteRestore(db, note, nowMs);
  await resumeRestored(db, { nowMs, isNothingSince: false });
};

// Recorded query plans of statements on the work that a restored database does not run until an operator releases it.
plan("note that the store was restored", (db) => noteRestore(db, note, nowMs));
plan("the last restore", (db) => findRestore(db));
// Counts the jobs of each project once after a restore. It does not read jobs that have ended.
plan("the jobs that a held store would run", (db) => countHeldWork(db), { rowsMax: { jobs: 1_000 } });
plan("resume a held store", resume, { rowsMax: { jobs: 1_000 } });
