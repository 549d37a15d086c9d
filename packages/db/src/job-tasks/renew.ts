import type { Executor } from "../connect.ts";
import { timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { values } from "../sql/parts.ts";
import type { RawRow } from "../sql/select-list.ts";
import { isHeld, type JobTaskLease, leaseColumns, leaseRows } from "./task.ts";

/**
 * By primary key, and the jobs by theirs. Locked in the order of their keys, as by commits of many jobs: neither waits for the
 * other in a circle.
 */
const renewLeases = compose(
  "renew_job_leases",
  { leases: leaseRows, lease: values({ untilMs: timestamptz }) },
  ({ leases, lease }) => query<RawRow<JobTaskLease> & { isCancelled: boolean; isPaused: boolean }>`
    with held as materialized (
      select t.job_id, t.kind, t.subject from ${leases.from("i")} join job_tasks t on ${isHeld}
      where t.lease_owner is not null order by t.job_id, t.kind, t.subject for update of t
    )
    update job_tasks t set lease_until = ${lease.untilMs} from held h
    where t.job_id = h.job_id and t.kind = h.kind and t.subject = h.subject
    returning ${leaseColumns.text},
      coalesce((select j.cancel_requested_at is not null from jobs j where j.id = t.job_id), false) as "isCancelled",
      coalesce((select j.paused_at is not null from jobs j where j.id = t.job_id), false) as "isPaused"`,
);

/** Renews leases in one statement and returns those that still were this node's, and whether their jobs are to be cancelled or paused. */
export async function renewJobLeases(
  db: Executor,
  leases: readonly JobTaskLease[],
  leaseUntilMs: number,
): Promise<(JobTaskLease & { readonly isCancelled: boolean; readonly isPaused: boolean })[]> {
  const rows = await renewLeases(db, { leases, lease: { untilMs: leaseUntilMs } });
  return rows.map((row) => ({ ...leaseColumns.read(row), isCancelled: row.isCancelled, isPaused: row.isPaused }));
}
