import { firstUuidAt, type Id, idOfUuid, isoTime, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

const selectUnswept = statement<{ id: string }>(
  "find_unswept_jobs",
  `select id from jobs j where finished_at < $1::timestamptz and finished_at is not null and not is_swept
     and (parent_job_id is null or not exists (
       select from jobs p where p.id = j.parent_job_id and p.finished_at is null offset 0))
   order by finished_at limit $2::int4 for no key update of j skip locked`,
);

const deleteSetRows = statement<{ ordinal: number }>(
  "sweep_job_set_rows",
  `delete from job_set_rows where ctid = any(array(
     select ctid from job_set_rows where job_id = $1::uuid limit $2::int4))`,
);

const deleteRows = statement<{ row_number: number }>(
  "sweep_job_rows",
  `delete from job_rows where ctid = any(array(select ctid from job_rows where job_id = $1::uuid limit $2::int4))`,
);

/**
 * Marks a job whose rows are about to be deleted. No new attempt at the job can begin after that, because it would need these rows. Uses
 * the primary key.
 */
const beginSweep = statement<{ id: string }>(
  "begin_job_sweep",
  `update jobs set has_lost_rows = true where id = $1::uuid and not has_lost_rows returning id`,
);

const finishSweep = statement<{ id: string }>(
  "finish_job_sweep",
  `with outputs as (
     update job_steps set output = null where job_id = any($1::uuid[]) and output is not null
   ), undo as (
     delete from job_undo_entries where job_id = any($1::uuid[])
   )
   update jobs set is_swept = true, progress = null where id = any($1::uuid[]) returning id`,
);

/**
 * Maximum number of jobs whose rows one batch of a sweep deletes. The batch leaves out a child job whose parent job has not ended, because
 * the parent job may still undo calls of the child job.
 */
const jobsMax = 20;

/**
 * Deletes the data of jobs that ended before `beforeMs`: rows, sets, outputs of steps and undo entries. One call deletes at most about
 * `limit` rows. Receipts and logs stay. Returns true if no data is left to delete. Any number of nodes may do this at the same time.
 */
export function sweepJobRows(db: Executor, beforeMs: number, limit: number): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    const found = await selectUnswept(tx, [isoTime(beforeMs), jobsMax]);
    const swept: Id<"job">[] = [];
    let left = limit;
    for (const { id } of found) {
      left -= (await deleteSetRows(tx, [id, left])).count;
      if (left > 0) left -= (await deleteRows(tx, [id, left])).count;
      if (left <= 0) {
        await beginSweep(tx, [id]);
        break;
      }
      swept.push(idOfUuid("job", id));
    }
    if (swept.length > 0) await finishSweep(tx, [arrayLiteral(swept.map(uuidOfId))]);
    return left > 0 && found.length < jobsMax;
  });
}

/**
 * Finds and locks jobs that have ended and may be deleted. Reads jobs from the oldest by the primary key, and looks up the simulation run
 * and the tasks of each job. Jobs that have not ended, or ended after `$3`, are read and skipped in each round of deletion. A simulation
 * run is deleted together with its job, because the job's page and receipt (report) refer to it.
 */
const lockEnded = statement<{ id: string; last_seq: number; twins: string[] }>(
  "lock_ended_jobs",
  `select j.id, j.last_seq, array(select t.id::text from jobs t where t.simulated_from = j.id) as twins from jobs j
   where j.id > $1::uuid and j.id < $2::uuid and j.finished_at < $3::timestamptz and j.is_swept and j.simulated_from is null
     and not exists (select from jobs t where t.simulated_from = j.id and not t.is_swept offset 0)
     and not exists (select from job_tasks k where k.job_id = j.id offset 0)
   order by j.id limit $4::int4 for update of j skip locked`,
);

/**
 * Deletes ended jobs. A job's rows, sets (the rows that one step made) and undo entries are deleted earlier, and `is_swept` marks such a
 * job. Uses the primary key of jobs, and an index by job for each table that refers to jobs.
 */
const deleteEnded = statement<{ id: string }>(
  "delete_ended_jobs",
  `with steps as (
     delete from job_steps where job_id = any($1::uuid[])
   ), entries as (
     delete from job_events where job_id = any($1::uuid[])
   ), asks as (
     delete from job_asks where job_id = any($1::uuid[])
   ), attempts as (
     delete from job_attempts where job_id = any($1::uuid[])
   )
   delete from jobs where id = any($1::uuid[]) returning id`,
);

/** Limits of one batch of the deletion of ended jobs. */
type EndedJobBatch = {
  /** Time in epoch milliseconds. Only jobs that ended before this time are deleted. */
  readonly beforeMs: number;
  /** Last job of the previous batch, after which this batch begins. Undefined for the first batch of a round. */
  readonly after: Id<"job"> | undefined;
  /** Maximum number of jobs that this batch deletes. */
  readonly limit: number;
  /** Maximum number of log entries that this batch deletes. The batch's first job is deleted even if its log is longer. */
  readonly logEntriesMax: number;
};

/**
 * Result of a batch of deletions. `last`: the last job of the batch, after which the next batch begins; undefined if the round is finished.
 */
type SweepProgress = { readonly last: Id<"job"> | undefined };

/**
 * Deletes ended jobs and their simulation runs, with receipts, steps, logs and asks. Jobs that still have rows or a task stay. Several
 * nodes may do this at the same time.
 */
export function sweepEndedJobs(db: Executor, batch: EndedJobBatch): Promise<SweepProgress> {
  const { beforeMs, after, limit, logEntriesMax } = batch;
  return withTransaction(db, async (tx) => {
    const from = after === undefined ? firstUuidAt(0) : uuidOfId(after);
    const found = await lockEnded(tx, [from, firstUuidAt(beforeMs), isoTime(beforeMs), limit]);
    let entriesLeft = logEntriesMax;
    const taken = found.filter(({ last_seq }, index) => {
      entriesLeft -= last_seq;
      return index === 0 || entriesLeft >= 0;
    });
    const last = taken.at(-1);
    if (last === undefined) return { last: undefined };
    await deleteEnded(tx, [arrayLiteral(taken.flatMap(({ id, twins }) => [id, ...twins]))]);
    const isOver = taken.length === found.length && found.length < limit;
    return { last: isOver ? undefined : idOfUuid("job", last.id) };
  });
}
