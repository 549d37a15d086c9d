import { type Batcher, createBatcher, type Id } from "@svc/core";
import { type CallRecord, putToolCalls } from "../calls/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { isUnavailable } from "../driver.ts";
import { putJobTasks } from "../job-tasks/queue.ts";
import type { NewJobTask } from "../job-tasks/task.ts";
import {
  type CommitOptions,
  commitJobs,
  type JobChange,
  type JobCommit,
  type RunCommit,
  type RunLease,
} from "./commit-job.ts";
import {
  clearJobSets,
  type JobSetRowChange,
  type JobSetRun,
  type NewJobRow,
  storeJobRows,
  writeJobRows,
} from "./rows.ts";
import { type JobUndoChange, type NewJobUndoEntry, writeJobUndo } from "./undo.ts";

/** One step forward of a job: everything in it is committed together, or, when the lease is lost, nothing. */
export type RunChange = JobChange & {
  readonly rows: readonly NewJobRow[];
  readonly setRows: readonly JobSetRowChange[];
  /** Rows that sets get at their ends. */
  readonly setRuns: readonly JobSetRun[];
  /** Sets that are emptied first, before a step runs again. */
  readonly clearedSets: readonly string[];
  readonly undoEntries: readonly NewJobUndoEntry[];
  readonly undoChanges: readonly JobUndoChange[];
  /** Rows of the ledger of calls that ended. */
  readonly calls: readonly CallRecord[];
  /** Tasks of other kinds or jobs that become due with it. */
  readonly tasks: readonly NewJobTask[];
  /** What else is written in the same transaction, after the lease was found to hold. */
  readonly also: ((tx: Executor) => Promise<void>) | undefined;
};

/**
 * Moves a job on under its driver's lease; undefined when the lease is lost, and then nothing is written. Changes that touch no
 * rows, entries or other tables share a statement and a commit with those of other jobs that come at the same time; any other is a
 * transaction of its own.
 */
export function commitRun(
  db: Executor,
  lease: RunLease,
  change: RunChange,
  options: CommitOptions,
): Promise<RunCommit | undefined> {
  const others = otherWrites(lease.jobId, change);
  if (others.length === 0) return commitTogether(db, { lease, change, options });
  return withTransaction(db, async (tx) => {
    // Sent together with what follows it: only when the lease is lost is more undone than done.
    const [committed] = await commitJobs(tx, [{ lease, change, options }]);
    if (committed === undefined) return undefined;
    for (const write of others) await write(tx);
    return committed;
  });
}

const batchers = new WeakMap<object, Batcher<JobCommit, RunCommit | undefined>>();

async function commitTogether(db: Executor, commit: JobCommit): Promise<RunCommit | undefined> {
  // Within a transaction it is part of that.
  if (!("begin" in db.sql)) return (await commitJobs(db, [commit]))[0];
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<JobCommit, RunCommit | undefined>({
      sizeMax: 100,
      concurrency: 2,
      besideMin: 32,
      // A row that the store refuses fails alone.
      splits: (error) => !isUnavailable(error),
      run: (commits) => commitAll(db, commits),
    });
    batchers.set(db, batcher);
  }
  return batcher.add(commit);
}

/** A driver that lost its lease may commit beside the one that took it over: a statement writes to a job once. */
async function commitAll(db: Executor, commits: readonly JobCommit[]): Promise<(RunCommit | undefined)[]> {
  const jobs = new Set(commits.map(({ lease }) => lease.jobId));
  if (jobs.size === commits.length) return commitJobs(db, commits);
  const done: (RunCommit | undefined)[] = [];
  for (const commit of commits) done.push(...(await commitJobs(db, [commit])));
  return done;
}

/** What a change writes beyond the job, its log, steps and task. */
function otherWrites(jobId: Id<"job">, change: RunChange): ((tx: Executor) => Promise<unknown>)[] {
  const { clearedSets, undoEntries: entries, undoChanges: changes, calls, tasks, also } = change;
  const writes: ((tx: Executor) => Promise<unknown>)[] = [];
  if (clearedSets.length > 0) writes.push((tx) => clearJobSets(tx, jobId, clearedSets));
  writes.push(...rowWrites(jobId, change));
  if (entries.length > 0 || changes.length > 0) writes.push((tx) => writeJobUndo(tx, jobId, { entries, changes }));
  if (calls.length > 0) writes.push((tx) => putToolCalls(tx, calls));
  if (tasks.length > 0) writes.push((tx) => putJobTasks(tx, tasks));
  if (also !== undefined) writes.push(also);
  return writes;
}

/** One statement, but where several sets get rows. */
function rowWrites(jobId: Id<"job">, { rows, setRows, setRuns }: RunChange): ((tx: Executor) => Promise<unknown>)[] {
  const [first, ...others] = setRuns;
  const isWritten = setRows.length > 0 || (first === undefined && rows.length > 0);
  const writes: ((tx: Executor) => Promise<unknown>)[] = [];
  if (isWritten) writes.push((tx) => writeJobRows(tx, jobId, { rows, setRows }));
  if (first !== undefined) writes.push((tx) => storeJobRows(tx, jobId, { rows: isWritten ? [] : rows, run: first }));
  for (const run of others) writes.push((tx) => storeJobRows(tx, jobId, { rows: [], run }));
  return writes;
}
