import type { Executor } from "../connect.ts";
import { countHeldWork, findRestore, noteRestore, resumeRestored } from "../restores/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt } from "./seed.ts";

// Its table has a row a time that the store was restored from a backup.

const note = { key: "backup", backupEndsAt: seededAt(1) };
const resume = async (db: Executor) => {
  await noteRestore(db, note, nowMs);
  await resumeRestored(db, { nowMs, isNothingSince: false });
};

/** What a restored store held back. */
export const restorePlans: readonly Plan[] = [
  { name: "note that the store was restored", run: (db) => noteRestore(db, note, nowMs), reads: {} },
  { name: "the last restore", run: (db) => findRestore(db), reads: { restores: "Seq Scan" } },
  {
    // Each project by itself, once a restore: the jobs that have ended are not read.
    name: "the jobs that a held store would run",
    words: "count(",
    run: (db) => countHeldWork(db),
    reads: { projects: ["Seq Scan", "projects_pkey()"], jobs: "jobs_status(project_id, status)" },
    rowsMax: { jobs: 1_000 },
  },
  { name: "resume a held store", words: 'update "restores"', run: resume, reads: { restores: "Seq Scan" } },
  {
    name: "doubt the jobs of a restored store",
    words: "restored_from",
    run: resume,
    reads: {
      projects: ["Seq Scan", "projects_pkey()"],
      jobs: ["jobs_status(project_id, status)", "jobs_children(status)", "jobs_pkey(id)"],
    },
    rowsMax: { jobs: 1_000 },
  },
];
