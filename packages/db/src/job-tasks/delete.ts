import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { JobTaskKind } from "../schema/words.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/** The primary key serves it up to the kind. */
const deleteTasks = statement<{ job_id: string }>(
  "delete_job_tasks",
  `delete from job_tasks
   where job_id = $1::uuid and kind = any($2::text[]) and (subject = $3::text or subject like $3::text || '/%')`,
);

/** Removes a job's tasks of these kinds about `subject`, or below it (`<subject>/…`); their holders' leases are lost. */
export async function deleteJobTasks(
  tx: Executor,
  { jobId, kinds, subject }: { jobId: Id<"job">; kinds: readonly JobTaskKind[]; subject: string },
): Promise<void> {
  await deleteTasks(tx, [uuidOfId(jobId), arrayLiteral([...kinds]), subject]);
}
