import type { Executor } from "../connect.ts";
import { timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { values } from "../sql/parts.ts";
import type { RawRow } from "../sql/select-list.ts";
import { isHeld, type JobTaskLease, leaseColumns, leaseRows } from "./task.ts";

/** By primary key. It waits for nobody, as `renew_job_leases` does not. */
const releaseLeases = compose(
  "release_job_leases",
  { leases: leaseRows, task: values({ dueAtMs: timestamptz }) },
  ({ leases, task }) => query<RawRow<JobTaskLease>>`
    with held as materialized (
      select t.job_id, t.kind, t.subject from ${leases.from("i")} join job_tasks t on ${isHeld} for update of t skip locked
    )
    update job_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, ${task.dueAtMs})
    from held h where t.job_id = h.job_id and t.kind = h.kind and t.subject = h.subject
    returning ${leaseColumns.text}`,
);

/** By primary key: one, which may wait for whoever has it locked, since it holds no other meanwhile. */
const releaseLease = compose(
  "release_job_lease",
  { leases: leaseRows, task: values({ dueAtMs: timestamptz }) },
  ({ leases, task }) => query`
    update job_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, ${task.dueAtMs})
    from ${leases.from("i")} where ${isHeld}`,
);

/**
 * Gives leases back, outside of any transaction: the tasks are due again at `dueAtMs`, or later where they were. Lost ones are left alone; one whose task
 * is locked at the moment is given back alone, after that.
 */
export async function releaseJobTasks(db: Executor, leases: readonly JobTaskLease[], dueAtMs: number): Promise<void> {
  if (leases.length === 0) return;
  const released = await releaseLeases(db, { leases, task: { dueAtMs } });
  if (released.length === leases.length) return;
  const done = new Set(released.map((row) => keyOf(leaseColumns.read(row))));
  for (const lease of leases) {
    if (!done.has(keyOf(lease))) await releaseLease(db, { leases: [lease], task: { dueAtMs } });
  }
}

function keyOf({ jobId, kind, subject }: JobTaskLease): string {
  return `${jobId}/${kind}/${subject}`;
}
