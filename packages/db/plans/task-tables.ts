import { compactTasks } from "../src/task-tables/epochs.ts";
import { plan } from "./planner/plan.ts";

// A compaction reads all rows of a task table and writes them again, up to a maximum.
for (const table of ["delivery_tasks", "job_tasks"] as const)
  plan(`compact ${table}`, (db) => compactTasks(db, { table, rowsMax: 100_000, lockMs: 1_000 }), {
    wholeReads: [table],
  });
