import { type Id, idOfUuid, isoTime, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

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

/** Another attempt would miss them. By primary key. */
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

/** Jobs looked at for one batch. What a job runs is kept as long as that one may undo it. */
const jobsMax = 20;

/**
 * Removes what jobs that ended before `beforeMs` processed: rows, sets, outputs of steps and undo entries, about `limit` rows at
 * most. Receipts and log stay. Returns whether it came to the end. Any number of nodes may do so at once.
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
