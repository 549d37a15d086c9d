import type { Executor } from "../connect.ts";
import { timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { values } from "../sql/parts.ts";
import type { RawRow } from "../sql/select-list.ts";
import { isHeld, type JobTaskLease, leaseColumns, leaseRows } from "./task.ts";

/** What became of a lease that was to be renewed. */
export type RenewedLease = JobTaskLease & {
  /** False while somebody has its task locked: it is still held, and to be renewed in a moment. */
  readonly isRenewed: boolean;
  readonly isCancelled: boolean;
  readonly isPaused: boolean;
};

/**
 * By primary key, and the jobs by theirs. It waits for nobody: a job that ends holds its own task and wants that of the job that runs
 * it, and whoever holds many tasks and waits for one more stands in a circle with it, in whatever order it takes them. `told` is what
 * stood there at its beginning: a task that is locked is in it as it was.
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
 * Renews leases in one statement and returns those that still are this node's, and whether their jobs are to be cancelled or paused. Those
 * whose tasks somebody has locked at the moment are not renewed.
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
