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

/** The same where no lease of it lasts any more; by primary key. */
const takeIdleRun = statement<{ lease_token: string }>(
  "take_idle_run_task",
  `update job_tasks set due_at = $2::timestamptz, lease_token = lease_token + 1, lease_owner = $3::uuid,
     lease_until = $4::timestamptz, attempt = 0, losses = 0
   where job_id = $1::uuid and kind = 'run' and subject = '' and (lease_until is null or lease_until <= $2::timestamptz)
   returning lease_token`,
);

/** A run that is leased to who commits to the job in the same transaction. */
export type RunToLease = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly owner: NodeId;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
};

/** As `leaseRunTask`, where nobody holds the job's run; undefined where somebody does, or it has none. */
export async function leaseIdleRunTask(tx: Executor, run: RunToLease): Promise<number | undefined> {
  const [row] = await takeIdleRun(tx, [
    uuidOfId(run.jobId),
    isoTime(run.nowMs),
    uuidOfId(run.owner),
    isoTime(run.leaseUntilMs),
  ]);
  return row && Number(row.lease_token);
}

/** As `takeRunTask`, and leases it to `owner`, who commits to the job in the same transaction. Answers the lease's token. */
export async function leaseRunTask(tx: Executor, run: RunToLease): Promise<number> {
  const [row] = await takeRun(tx, [
    uuidOfId(run.jobId),
    uuidOfId(run.projectId),
    isoTime(run.nowMs),
    uuidOfId(run.owner),
    isoTime(run.leaseUntilMs),
  ]);
  return Number(row?.lease_token);
}
