import type { Id } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { putJobTasks } from "../job-tasks/put.ts";
import type { NewJobTask } from "../job-tasks/task.ts";
import { clearJobSets } from "./clear-sets.ts";
import { type CommitOptions, commitJob, type JobChange, type RunCommit, type RunLease } from "./commit-job.ts";
import { type JobSetRowChange, type NewJobRow, writeJobRows } from "./write-rows.ts";
import { type JobUndoChange, type NewJobUndoEntry, writeJobUndo } from "./write-undo.ts";

/** One step forward of a job: everything in it is committed together, or, when the lease is lost, nothing. */
export type RunChange = JobChange & {
  readonly rows: readonly NewJobRow[];
  readonly setRows: readonly JobSetRowChange[];
  /** Sets that are emptied first, before a step runs again. */
  readonly clearedSets: readonly string[];
  readonly undoEntries: readonly NewJobUndoEntry[];
  readonly undoChanges: readonly JobUndoChange[];
  /** Tasks of other kinds or jobs that become due with it. */
  readonly tasks: readonly NewJobTask[];
  /** What else is written in the same transaction, after the lease was found to hold. */
  readonly also: ((tx: Executor) => Promise<void>) | undefined;
};

/**
 * Moves a job on under its driver's lease; undefined when the lease is lost, and then nothing is written. A change that touches
 * no rows, entries or other tables is one statement; any other is one transaction.
 */
export function commitRun(
  db: Executor,
  lease: RunLease,
  change: RunChange,
  options: CommitOptions,
): Promise<RunCommit | undefined> {
  const others = otherWrites(lease.jobId, change);
  if (others.length === 0) return commitJob(db, lease, change, options);
  return withTransaction(db, async (tx) => {
    // Sent together with what follows it: only when the lease is lost is more undone than done.
    const committed = await commitJob(tx, lease, change, options);
    if (committed === undefined) return undefined;
    for (const write of others) await write(tx);
    return committed;
  });
}

/** What a change writes beyond the job, its log, steps and task. */
function otherWrites(jobId: Id<"job">, change: RunChange): ((tx: Executor) => Promise<unknown>)[] {
  const { rows, setRows, clearedSets, undoEntries: entries, undoChanges: changes, tasks, also } = change;
  const writes: ((tx: Executor) => Promise<unknown>)[] = [];
  if (clearedSets.length > 0) writes.push((tx) => clearJobSets(tx, jobId, clearedSets));
  if (rows.length > 0 || setRows.length > 0) writes.push((tx) => writeJobRows(tx, jobId, { rows, setRows }));
  if (entries.length > 0 || changes.length > 0) writes.push((tx) => writeJobUndo(tx, jobId, { entries, changes }));
  if (tasks.length > 0) writes.push((tx) => putJobTasks(tx, tasks));
  if (also !== undefined) writes.push(also);
  return writes;
}
