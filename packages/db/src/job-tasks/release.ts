import type { Executor } from "../connect.ts";
import { timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { values } from "../sql/parts.ts";
import { isHeld, type JobTaskLease, leaseRows } from "./task.ts";

/** By primary key, locked in its order as `renew_job_leases` does. */
const releaseLeases = compose(
  "release_job_leases",
  { leases: leaseRows, task: values({ dueAtMs: timestamptz }) },
  ({ leases, task }) => query`
    with held as materialized (
      select t.job_id, t.kind, t.subject from ${leases.from("i")} join job_tasks t on ${isHeld}
      order by t.job_id, t.kind, t.subject for update of t
    )
    update job_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, ${task.dueAtMs})
    from held h where t.job_id = h.job_id and t.kind = h.kind and t.subject = h.subject`,
);

/** Gives leases back: the tasks are due again at `dueAtMs`, or later where they were. Lost ones are left alone. */
export async function releaseJobTasks(db: Executor, leases: readonly JobTaskLease[], dueAtMs: number): Promise<void> {
  if (leases.length > 0) await releaseLeases(db, { leases, task: { dueAtMs } });
}
