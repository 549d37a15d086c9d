import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key, from the job up to the one that nobody runs: `offset 0` keeps each look to one key, whatever rows are expected. */
const readConfirmed = statement<{ was_confirmed: boolean }>(
  "was_job_confirmed",
  `with recursive family(id, parent_job_id) as (
     select id, parent_job_id from jobs where id = $1::uuid
     union all
     select p.id, p.parent_job_id from family f
     cross join lateral (select id, parent_job_id from jobs where jobs.id = f.parent_job_id offset 0) p)
   select exists (
     select from family f
     cross join lateral (select from job_asks a where a.job_id = f.id and a.kind = 'confirm' offset 0) asked
   ) as was_confirmed`,
);

/**
 * Whether a person was asked to confirm a job or one that runs it: the question about a program is about the skills in it. One that goes
 * on was answered with yes.
 */
export async function wasJobConfirmed(db: Executor, jobId: Id<"job">): Promise<boolean> {
  const [row] = await readConfirmed(db, [uuidOfId(jobId)]);
  return row?.was_confirmed ?? false;
}
