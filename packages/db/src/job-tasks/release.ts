import type { Executor } from "../connect.ts";
import { timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { values } from "../sql/parts.ts";
import { isHeld, type JobTaskLease, leaseRows } from "./task.ts";

/** By primary key. */
const releaseLeases = compose(
  "release_job_leases",
  { leases: leaseRows, task: values({ dueAtMs: timestamptz }) },
  ({ leases, task }) => query`
    update job_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, ${task.dueAtMs})
    from ${leases.from("i")} where ${isHeld}`,
);

/** Gives leases back: the tasks are due again at `dueAtMs`, or later where they were. Lost ones are left alone. */
export async function releaseJobTasks(db: Executor, leases: readonly JobTaskLease[], dueAtMs: number): Promise<void> {
  if (leases.length > 0) await releaseLeases(db, { leases, task: { dueAtMs } });
}
