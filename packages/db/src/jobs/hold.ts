import { type Id, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { putJobTasks } from "../job-tasks/queue.ts";
import { filterBy } from "../sql/filter.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Locks the row of a job until the end of the transaction. Finds it by the primary key of jobs. */
const lockRow = statement<{ id: string }>("lock_job", "select id from jobs where id = $1::uuid for no key update");

/** Locks a job's row for the rest of the transaction. Every transaction that writes to a job or its tasks locks the job's row first. */
export async function lockJob(tx: Executor, jobId: Id<"job">): Promise<void> {
  await lockRow(tx, [uuidOfId(jobId)]);
}

/** Adds one to the number of times that an unfinished job blocked a node's event loop. Finds the job by the primary key of jobs. */
const countHold = statement<{ loop_holds: number }>(
  "count_job_loop_hold",
  `update jobs set loop_holds = loop_holds + 1 where id = $1::uuid and finished_at is null returning loop_holds`,
);

/** Sets the number of times that a job has blocked an event loop back to 0. */
const clearHolds = statement<{ id: string }>(
  "clear_job_loop_holds",
  `update jobs set loop_holds = 0 where id = $1::uuid and loop_holds > 0 returning id`,
);

/**
 * Adds one to the number of times that a job blocked a node's event loop, and locks the job's row for the rest of the transaction. Returns
 * the new number; undefined if the job has ended or does not exist.
 */
export async function countJobLoopHold(tx: Executor, jobId: Id<"job">): Promise<number | undefined> {
  const [row] = await countHold(tx, [uuidOfId(jobId)]);
  return row?.loop_holds;
}

/** Sets the count to 0 that `countJobLoopHold` increases: how often a job blocked a node's event loop. */
export async function clearJobLoopHolds(tx: Executor, jobId: Id<"job">): Promise<void> {
  await clearHolds(tx, [uuidOfId(jobId)]);
}

/** Stores or removes the request to pause a job. Finds the job by its primary key. */
const setPause = statement<{ id: string }>(
  "set_job_pause",
  "update jobs set paused_at = $2::timestamptz, pause_chain = $3::text[] where id = $1::uuid returning id",
);

/**
 * Stores a request to pause a job, with its time and the callers that caused it. If the request is undefined, removes the stored one. The
 * caller must have locked the row, and the job must not have ended. The node that runs the job reads the request at its next commit.
 */
export async function setJobPause(
  tx: Executor,
  jobId: Id<"job">,
  pause: { readonly atMs: number; readonly chain: readonly string[] } | undefined,
): Promise<void> {
  await setPause(tx, [
    uuidOfId(jobId),
    pause === undefined ? null : isoTime(pause.atMs),
    pause === undefined ? null : arrayLiteral([...pause.chain]),
  ]);
}

/**
 * Stores the request to cancel a job, unless the job has ended. Also makes the job's run task (the task that runs its steps) due, so that a
 * node handles the request. Finds the job by the primary key of jobs.
 */
const request = statement<{ id: string; isFinished: boolean; status: string }>(
  "request_job_cancel",
  `with found as materialized (
    select id, status, finished_at is not null as "isFinished" from jobs
    where id = $1::uuid and ${filterBy("project_id", "$2::uuid")} for no key update
  ), changed as (
    update jobs j set cancel_requested_at = $3::timestamptz, cancel_chain = $4::text[], updated_at = $3::timestamptz,
      paused_at = null
    from found f where j.id = f.id and not f."isFinished" and j.cancel_requested_at is null
  )
  select id, status, "isFinished" from found`,
);

/**
 * Requests the cancellation of a job, and makes its run task (the task that runs its steps) due, in one transaction. Returns the job's
 * status; undefined if the project has no such job. Only the first request counts. An ended job does not change. If the job is paused, the
 * request also ends the pause.
 */
export function requestJobCancel(
  db: Executor,
  {
    jobId,
    projectId,
    chain,
    nowMs,
  }: { jobId: Id<"job">; projectId: ProjectId; chain: readonly string[]; nowMs: number },
): Promise<{ status: string; isFinished: boolean } | undefined> {
  return withTransaction(db, async (tx) => {
    const [row] = await request(tx, [uuidOfId(jobId), uuidOfId(projectId), isoTime(nowMs), arrayLiteral([...chain])]);
    if (row === undefined) return undefined;
    if (!row.isFinished) await putJobTasks(tx, [{ jobId, projectId, kind: "run", subject: "", dueAt: nowMs }]);
    return { status: row.status, isFinished: row.isFinished };
  });
}
