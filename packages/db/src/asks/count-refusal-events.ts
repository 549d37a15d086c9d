import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** The primary key serves it up to the job, whose log is as short as that of a job that never asked. */
const countEvents = statement<{ count: number }>(
  "count_refusal_events",
  `select count(*)::int4 as count from (
     select from job_events where job_id = $1::uuid and type = 'answer-refused' limit $2::int4) e`,
);

/** How many refusals stand on a job's log, up to `max`: for answers to a job that never asked anything. */
export async function countRefusalEvents(db: Executor, jobId: Id<"job">, max: number): Promise<number> {
  const [row] = await countEvents(db, [uuidOfId(jobId), max]);
  return row?.count ?? 0;
}
