import { firstUuidAt, type Id, idOfUuid, isoTime, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/**
 * From the old end of the primary key, by lookups of each job's twin and tasks. Jobs that ended too late, or have not ended,
 * stand in the way: a round goes past them once. A twin goes with the job it was made for, whose page and receipt name it.
 */
const lockEnded = statement<{ id: string; last_seq: number; twins: string[] }>(
  "lock_ended_jobs",
  `select j.id, j.last_seq, array(select t.id::text from jobs t where t.simulated_from = j.id) as twins from jobs j
   where j.id > $1::uuid and j.id < $2::uuid and j.finished_at < $3::timestamptz and j.is_swept and j.simulated_from is null
     and not exists (select from jobs t where t.simulated_from = j.id and not t.is_swept offset 0)
     and not exists (select from job_tasks k where k.job_id = j.id offset 0)
   order by j.id limit $4::int4 for update of j skip locked`,
);

/** By primary keys, and the asks of each job by theirs. Rows, sets and undo entries went before: that is what `is_swept` says. */
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

/** One batch of a sweep of ended jobs. */
export type EndedJobBatch = {
  /** Jobs that ended before this go, epoch milliseconds. */
  readonly beforeMs: number;
  /** The last job of the batch before; undefined for a round's first. */
  readonly after: Id<"job"> | undefined;
  /** Jobs at most. */
  readonly limit: number;
  /** Entries of logs at most, but for those of the first job. */
  readonly logEntriesMax: number;
};

/** What a batch did. `last`: where the next one begins; undefined where nothing is left. */
export type EndedJobsSwept = { readonly last: Id<"job"> | undefined };

/**
 * Removes jobs that ended and whose rows were swept, each whole and in one transaction: receipt, attempts, steps, log, asks, and its twin
 * with all of that. A job of which something is still due stays. Any number of nodes may do so at once.
 */
export function sweepEndedJobs(db: Executor, batch: EndedJobBatch): Promise<EndedJobsSwept> {
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
