import { type Id, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { putJobTasks } from "../job-tasks/put.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { filterBy } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
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
 * Asks a job to end and makes its run due, in one transaction. The first request counts. Answers the job's status; undefined
 * when the project has no such job. A job that has ended is left alone; one that is paused is not paused any more.
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
