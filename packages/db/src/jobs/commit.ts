import { type Batcher, createBatcher, type Id } from "@svc/core";
import { type CallRecord, putToolCalls } from "../calls/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { isUnavailable } from "../driver.ts";
import { putJobTasks } from "../job-tasks/queue.ts";
import type { NewJobTask } from "../job-tasks/task.ts";
import {
  type CommitOptions,
  commitJobPage,
  commitJobs,
  type JobChange,
  type JobCommit,
  type RunCommit,
  type RunLease,
} from "./commit-job.ts";
import {
  clearJobSets,
  type JobPage,
  type JobSetRowChange,
  type JobSetRun,
  type NewJobRow,
  storeJobRows,
  writeJobRows,
} from "./rows.ts";
import { type JobUndoChange, type NewJobUndoEntry, writeJobUndo } from "./undo.ts";

/**
 * The changes of a job after one unit of its work: rows, undo entries, calls and tasks. They are committed together, or not at all if the
 * job's lease is lost (another node may have taken over the job).
 */
export type RunChange = JobChange & {
  readonly rows: readonly NewJobRow[];
  readonly setRows: readonly JobSetRowChange[];
  /** Consecutive rows that the commit appends to the job's sets. A set is the list of rows that a step makes. */
  readonly setRuns: readonly JobSetRun[];
  /**
   * Ids of the sets (lists of rows that the job's steps make) that the commit empties before it writes rows. This is needed if the step
   * that makes the set runs again.
   */
  readonly clearedSets: readonly string[];
  readonly undoEntries: readonly NewJobUndoEntry[];
  readonly undoChanges: readonly JobUndoChange[];
  /** Tool calls of the job that have ended, as rows of the ledger (the record of all tool calls). The commit stores them. */
  readonly calls: readonly CallRecord[];
  /**
   * Tasks that become due with the commit. They are tasks of other jobs (for example of the parent job), or tasks of this job that do not
   * run its steps.
   */
  readonly tasks: readonly NewJobTask[];
  /**
   * Function that writes further changes in the same transaction. It runs after svc has checked that the node still holds the job's lease
   * (the time in which only one node works on a task).
   */
  readonly also: ((tx: Executor) => Promise<void>) | undefined;
};

/** Commits a job's progress if this node still has the lease of the job. Otherwise writes nothing and returns undefined. */
export function commitRun(
  db: Executor,
  lease: RunLease,
  change: RunChange,
  options: CommitOptions,
): Promise<RunCommit | undefined> {
  const page = pageOf(change);
  if (page !== undefined) return commitJobPage(db, { lease, change, options }, page);
  const others = otherWrites(lease.jobId, change);
  // A change without rows and other tables shares one statement and one commit with such changes of other jobs.
  if (others.length === 0) return commitTogether(db, { lease, change, options });
  return withTransaction(db, async (tx) => {
    // This statement is sent together with the statements that follow, without waiting for its result. They are sent in vain only if the
    // lease is lost.
    const [committed] = await commitJobs(tx, [{ lease, change, options }]);
    if (committed === undefined) return undefined;
    for (const write of others) await write(tx);
    return committed;
  });
}

const batchers = new WeakMap<object, Batcher<JobCommit, RunCommit | undefined>>();

async function commitTogether(db: Executor, commit: JobCommit): Promise<RunCommit | undefined> {
  // If the caller is in a transaction, the commit is part of that transaction.
  if (!("begin" in db.sql)) return (await commitJobs(db, [commit]))[0];
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<JobCommit, RunCommit | undefined>({
      sizeMax: 100,
      concurrency: 2,
      besideMin: 32,
      // If the database refuses a row, only that job's commit fails.
      splits: (error) => !isUnavailable(error),
      run: (commits) => commitAll(db, commits),
    });
    batchers.set(db, batcher);
  }
  return batcher.add(commit);
}

/**
 * Commits changes of several jobs. If a job occurs twice, each change has its own statement, because one statement can write to a job only
 * once. This happens if a node has lost its lease (time-limited right) of the job and commits at the same time as the node that has the
 * lease now.
 */
async function commitAll(db: Executor, commits: readonly JobCommit[]): Promise<(RunCommit | undefined)[]> {
  const jobs = new Set(commits.map(({ lease }) => lease.jobId));
  if (jobs.size === commits.length) return commitJobs(db, commits);
  const done: (RunCommit | undefined)[] = [];
  for (const commit of commits) done.push(...(await commitJobs(db, [commit])));
  return done;
}

/** Returns the new rows of a change and their positions. Undefined if the change stores more than these and the job. */
function pageOf({ rows, setRuns, ...change }: RunChange): JobPage | undefined {
  const [run, ...more] = setRuns;
  const { setRows, clearedSets, undoEntries, undoChanges, calls, tasks, also } = change;
  const others = [more, setRows, clearedSets, undoEntries, undoChanges, calls, tasks];
  return run === undefined || also !== undefined || others.some(({ length }) => length > 0) ? undefined : { rows, run };
}

/** Returns functions that store what `commitJobs` does not store itself, such as row sets, undo entries and tool calls. */
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

/**
 * Returns the functions that store new rows of a job and their positions in the job's sets (lists of rows). One function stores the rows
 * together with the positions in one set. Each further set that gets rows has a function of its own.
 */
function rowWrites(jobId: Id<"job">, { rows, setRows, setRuns }: RunChange): ((tx: Executor) => Promise<unknown>)[] {
  const [first, ...others] = setRuns;
  const isWritten = setRows.length > 0 || (first === undefined && rows.length > 0);
  const writes: ((tx: Executor) => Promise<unknown>)[] = [];
  if (isWritten) writes.push((tx) => writeJobRows(tx, jobId, { rows, setRows }));
  if (first !== undefined) writes.push((tx) => storeJobRows(tx, jobId, { rows: isWritten ? [] : rows, run: first }));
  for (const run of others) writes.push((tx) => storeJobRows(tx, jobId, { rows: [], run }));
  return writes;
}
