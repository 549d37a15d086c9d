import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/** The primary key serves it up to the set. */
const clearSets = statement<{ set_id: string }>(
  "clear_job_sets",
  "delete from job_set_rows where job_id = $1::uuid and set_id = any($2::text[])",
);

/** Empties sets of a job. Their rows stay: other sets may hold them. */
export async function clearJobSets(tx: Executor, jobId: Id<"job">, setIds: readonly string[]): Promise<void> {
  await clearSets(tx, [uuidOfId(jobId), arrayLiteral(setIds)]);
}
