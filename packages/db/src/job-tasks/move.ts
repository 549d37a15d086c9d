import { isoTime, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import type { JobTaskLease } from "./task.ts";

/** By primary key. */
const moveTask = statement<{ job_id: string }>(
  "move_job_task",
  `update job_tasks set due_at = $5::timestamptz, lease_owner = null, lease_until = null
   where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   returning job_id`,
);

/** Gives a task back, to be due then; its attempts stay counted. False when its lease is lost. */
export async function moveJobTask(db: Executor, lease: JobTaskLease, dueAtMs: number): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await moveTask(db, [uuidOfId(jobId), kind, subject, leaseToken, isoTime(dueAtMs)])).length > 0;
}
