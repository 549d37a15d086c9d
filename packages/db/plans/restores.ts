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

// Work that a restored database held back.
plan("note that the store was restored", (db) => noteRestore(db, note, nowMs));
plan("the last restore", (db) => findRestore(db));
// Each project separately, once per restore; ended jobs are not read.
plan("the jobs that a held store would run", (db) => countHeldWork(db), { rowsMax: { jobs: 1_000 } });
plan("resume a held store", resume, { rowsMax: { jobs: 1_000 } });
