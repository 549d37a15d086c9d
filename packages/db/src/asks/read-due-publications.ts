import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/** By the whole key of tasks, one look for each. `offset 0`: a plan that joined them would go past all tasks of a job. */
const readDue = statement<{ subject: string }>(
  "read_due_publications",
  `select due.subject from unnest($1::uuid[], $2::text[]) as due(job_id, subject)
   cross join lateral (
     select 1 from job_tasks t where t.job_id = due.job_id and t.kind = 'publish' and t.subject = due.subject offset 0) found`,
);

/** Of some tasks that publish, by job and subject, the subjects of those that are still due. */
export async function readDuePublications(
  db: Executor,
  tasks: readonly { readonly jobId: Id<"job">; readonly subject: string }[],
): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return new Set();
  const rows = await readDue(db, [
    arrayLiteral(tasks.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(tasks.map(({ subject }) => subject)),
  ]);
  return new Set(rows.map(({ subject }) => subject));
}
