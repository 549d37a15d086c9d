import { type Id, isoTime, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { isHeld, type JobTaskLease, leaseColumns, leaseRows } from "./task.ts";

/** Result of the renewal of a lease. */
type RenewedLease = JobTaskLease & {
  /** False while another transaction has locked the task: the lease is still held, and must be renewed a moment later. */
  readonly isRenewed: boolean;
  readonly isCancelled: boolean;
  readonly isPaused: boolean;
};

/**
 * Uses the primary key, and the jobs by theirs. It never waits for a lock. A job that ends holds its own task and needs its parent job's. A
 * statement that holds many tasks and waits for another could deadlock with it, in any order. `told` is the state at the statement's start:
 * a locked task is in it as it was.
 */
const renewLeases = compose(
  "renew_job_leases",
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
 * Renews leases in one statement. Returns those that still belong to this node, and if their jobs must be cancelled or paused. Leases whose
 * tasks are locked at the moment are not renewed.
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

/** Uses the primary key. */
const takeRun = statement<{ lease_token: string }>(
  "take_run_task",
  `insert into job_tasks (job_id, kind, subject, project_id, due_at, lease_owner, lease_token, lease_until)
   values ($1::uuid, 'run', '', $2::uuid, $3::timestamptz, $4::uuid, 1, $5::timestamptz)
   on conflict (job_id, kind, subject) do update set due_at = excluded.due_at, lease_token = job_tasks.lease_token + 1,
     lease_owner = excluded.lease_owner, lease_until = excluded.lease_until, attempt = 0, losses = 0
   returning lease_token`,
);

/**
 * Makes a job's run due and takes it from its holder. Use it under `lockJob` after a change to what a driver has read of the job. The
 * driver's unfinished work is lost, except calls in the ledger.
 */
export async function takeRunTask(
  tx: Executor,
  { jobId, projectId, dueAt }: { jobId: Id<"job">; projectId: ProjectId; dueAt: number },
): Promise<void> {
  await takeRun(tx, [uuidOfId(jobId), uuidOfId(projectId), isoTime(dueAt), null, null]);
}

/** The same if its lease has expired; by primary key. */
const takeIdleRun = statement<{ lease_token: string }>(
  "take_idle_run_task",
  `update job_tasks set due_at = $2::timestamptz, lease_token = lease_token + 1, lease_owner = $3::uuid,
     lease_until = $4::timestamptz, attempt = 0, losses = 0
   where job_id = $1::uuid and kind = 'run' and subject = '' and (lease_until is null or lease_until <= $2::timestamptz)
   returning lease_token`,
);

/** A run to lease to the node that commits to the job in the same transaction. */
export type RunToLease = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly owner: NodeId;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
};

/** Like `leaseRunTask`, but only if no node holds the job's run. Returns undefined if one does, or if there is no run. */
export async function leaseIdleRunTask(tx: Executor, run: RunToLease): Promise<number | undefined> {
  const [row] = await takeIdleRun(tx, [
    uuidOfId(run.jobId),
    isoTime(run.nowMs),
    uuidOfId(run.owner),
    isoTime(run.leaseUntilMs),
  ]);
  return row && Number(row.lease_token);
}

/** Like `takeRunTask`, but leases the run to `owner`, which commits to the job in the same transaction. Returns the lease's token. */
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
