import { type Id, isoTime, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const takeRun = statement<{ lease_token: string }>(
  "take_run_task",
  `insert into job_tasks (job_id, kind, subject, project_id, due_at, lease_owner, lease_token, lease_until)
   values ($1::uuid, 'run', '', $2::uuid, $3::timestamptz, $4::uuid, 1, $5::timestamptz)
   on conflict (job_id, kind, subject) do update set due_at = excluded.due_at, lease_token = job_tasks.lease_token + 1,
     lease_owner = excluded.lease_owner, lease_until = excluded.lease_until, attempt = 0, losses = 0
   returning lease_token`,
);

/**
 * Makes a job's run due and takes it from whoever holds it: for those who change, under `lockJob`, what a driver has read of the
 * job. What its driver has under way is lost, but for the calls that the ledger holds.
 */
export async function takeRunTask(
  tx: Executor,
  { jobId, projectId, dueAt }: { jobId: Id<"job">; projectId: ProjectId; dueAt: number },
): Promise<void> {
  await takeRun(tx, [uuidOfId(jobId), uuidOfId(projectId), isoTime(dueAt), null, null]);
}

/** As `takeRunTask`, and leases it to `owner`, who commits to the job in the same transaction. Answers the lease's token. */
export async function leaseRunTask(
  tx: Executor,
  run: { jobId: Id<"job">; projectId: ProjectId; owner: NodeId; nowMs: number; leaseUntilMs: number },
): Promise<number> {
  const [row] = await takeRun(tx, [
    uuidOfId(run.jobId),
    uuidOfId(run.projectId),
    isoTime(run.nowMs),
    uuidOfId(run.owner),
    isoTime(run.leaseUntilMs),
  ]);
  return Number(row?.lease_token);
}
