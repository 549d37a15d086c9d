import { compactTasks } from "../task-tables/compact.ts";
import type { Plan } from "./plan.ts";

const compaction = { rowsMax: 100_000, lockMs: 1_000 };

/** Task tables that are rid of their dead rows. */
export const taskTablePlans: readonly Plan[] = [
  ...(["delivery_tasks", "job_tasks"] as const).flatMap((table): Plan[] => {
    const run: Plan["run"] = (db) => compactTasks(db, { table, ...compaction });
    return [
      {
        name: `rows of ${table} that are alive`,
        words: "json_agg",
        run,
        // Up to the most that are written again: all of them.
        reads: { [table]: "Seq Scan" },
      },
      { name: `write the rows of ${table} again`, words: "json_populate_recordset", run, reads: {} },
    ];
  }),
];
