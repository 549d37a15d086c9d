import { uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import type { JobTaskLease } from "./task.ts";

/** By primary key. */
const holdTask = statement<{ job_id: string }>(
  "hold_job_task",
  `select job_id from job_tasks where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   for update`,
);

/**
 * Locks a task for the rest of the transaction; false when its lease is lost. Lock the job's row (`lockJob`) first: everybody
 * takes the two in this order.
 */
export async function holdJobTask(tx: Executor, lease: JobTaskLease): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await holdTask(tx, [uuidOfId(jobId), kind, subject, leaseToken])).length > 0;
}
