import { type Id, idOfUuid, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** Served by jobs_simulated_from, which holds twins alone. */
const selectTwin = statement<{ id: string }>(
  "find_job_twin",
  "select id from jobs where simulated_from = $1::uuid order by id limit 1",
);

/** The simulated twin that was made for a job by simulateFirst. */
export async function findJobTwin(db: Executor, jobId: Id<"job">): Promise<Id<"job"> | undefined> {
  const [row] = await selectTwin(db, [uuidOfId(jobId)]);
  return row && idOfUuid("job", row.id);
}
