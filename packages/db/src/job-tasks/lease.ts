import { type Id, isoTime, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { isHeld, type JobTaskLease, leaseColumns, leaseRows } from "./task.ts";

/** A node's lease of a job's task (its time-limited right to work on the task) that is still valid, and the state of the job. */
type RenewedLease = JobTaskLease & {
  /**
   * True if the lease (the node's time-limited right to the task) was extended. False if another transaction has locked the task: the node
   * still holds the lease, and must renew it a moment later.
   */
  readonly isRenewed: boolean;
  readonly isCancelled: boolean;
  readonly isPaused: boolean;
};

/**
 * Extends the leases of tasks, and returns the tasks. A lease gives a task to one node for a limited time. Skips tasks that are locked at
 * the moment.
 */
const renewLeases = compose(
  "renew_job_leases",
  // It never waits for a lock. A job that ends locks its own task and then the task of its parent job. Waiting for one more task could
  // therefore cause a deadlock.
  { leases: leaseRows, lease: values({ untilMs: timestamptz }) },
  ({ leases, lease }) => query<RawRow<JobTaskLease> & Omit<RenewedLease, keyof JobTaskLease>>`
    with held as materialized (
      select t.job_id, t.kind, t.subject from ${leases.from("i")} join job_tasks t on ${isHeld}
      where t.lease_owner is not null for update of t skip locked
    ), renewed as (
      update job_tasks t set lease_until = ${lease.untilMs} from held h
      where t.job_id = h.job_id and t.kind = h.kind and t.subject = h.subject
      returning t.job_id, t.kind, t.subject
    )
    select ${leaseColumns.text}, r.job_id is not null as "isRenewed",
      coalesce((select j.cancel_requested_at is not null from jobs j where j.id = t.job_id), false) as "isCancelled",
      coalesce((select j.paused_at is not null from jobs j where j.id = t.job_id), false) as "isPaused"
    from ${leases.from("i")} join job_tasks t on ${isHeld}
    left join renewed r on r.job_id = t.job_id and r.kind = t.kind and r.subject = t.subject
    where t.lease_owner is not null`,
);

/**
 * Extends leases (rights of one node to work on a task). Returns the leases that this node still has. `isRenewed`: false if the lease was
 * not extended, because its task was locked. `isCancelled`, `isPaused`: true if the job must be cancelled or paused.
 */
export async function renewJobLeases(
  db: Executor,
  leases: readonly JobTaskLease[],
  leaseUntilMs: number,
): Promise<RenewedLease[]> {
  const rows = await renewLeases(db, { leases, lease: { untilMs: leaseUntilMs } });
  return rows.map(({ isRenewed, isCancelled, isPaused, ...row }) => {
    return { ...leaseColumns.read(row), isRenewed, isCancelled, isPaused };
  });
}

/**
 * Makes the run task of a job (the task that runs the job's steps) due, and takes it from the node that works on it. Inserts the task if it
 * is missing. Finds the task by the primary key of job_tasks.
 */
const takeRun = statement<{ lease_token: string }>(
  "take_run_task",
  `insert into job_tasks (job_id, kind, subject, project_id, due_at, lease_owner, lease_token, lease_until)
   values ($1::uuid, 'run', '', $2::uuid, $3::timestamptz, $4::uuid, 1, $5::timestamptz)
   on conflict (job_id, kind, subject) do update set due_at = excluded.due_at, lease_token = job_tasks.lease_token + 1,
     lease_owner = excluded.lease_owner, lease_until = excluded.lease_until, attempt = 0, losses = 0
   returning lease_token`,
);

/**
 * Makes the run task of a job (the task that runs the job's steps) due, and takes it from the node that works on it. Call it under
 * `lockJob` when you change something that the job's driver (the loop that runs its steps) has already read. The driver's unfinished work
 * is then lost, except the calls in the ledger (the stored record of tool calls).
 */
export async function takeRunTask(
  tx: Executor,
  { jobId, projectId, dueAt }: { jobId: Id<"job">; projectId: ProjectId; dueAt: number },
): Promise<void> {
  await takeRun(tx, [uuidOfId(jobId), uuidOfId(projectId), isoTime(dueAt), null, null]);
}

/**
 * Leases the task that runs a job for a node (reserves the task for it), unless another node has a valid lease of it. Uses the primary key.
 */
const takeIdleRun = statement<{ lease_token: string }>(
  "take_idle_run_task",
  `update job_tasks set due_at = $2::timestamptz, lease_token = lease_token + 1, lease_owner = $3::uuid,
     lease_until = $4::timestamptz, attempt = 0, losses = 0
   where job_id = $1::uuid and kind = 'run' and subject = '' and (lease_until is null or lease_until <= $2::timestamptz)
   returning lease_token`,
);

/**
 * A job's run task (the task that runs the job's steps), and the node that gets a lease on it (the right to work on it for a limited time).
 * The node takes the lease and commits a change of the job in one transaction.
 */
export type RunToLease = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly owner: NodeId;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
};

/**
 * Leases the task that runs a job's steps, so that only `owner` may run them, if no node has a lease of the task. Returns the token of this
 * lease. Returns undefined if a node has a lease, or if the job has no such task.
 */
export async function leaseIdleRunTask(tx: Executor, run: RunToLease): Promise<number | undefined> {
  const [row] = await takeIdleRun(tx, [
    uuidOfId(run.jobId),
    isoTime(run.nowMs),
    uuidOfId(run.owner),
    isoTime(run.leaseUntilMs),
  ]);
  return row && Number(row.lease_token);
}

/**
 * Leases the run task of a job to `owner`, even if another node holds the task. Only `owner` may then run the job, for a limited time.
 * Returns the token of the lease.
 */
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
