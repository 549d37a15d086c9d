import { uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import type { JobTaskLease } from "./task.ts";

/** By primary key. */
const endTask = statement<{ job_id: string }>(
  "end_job_task",
  `delete from job_tasks where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   returning job_id`,
);

/** Ends a task; false when its lease is lost. */
export async function endJobTask(db: Executor, lease: JobTaskLease): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await endTask(db, [uuidOfId(jobId), kind, subject, leaseToken])).length > 0;
}
