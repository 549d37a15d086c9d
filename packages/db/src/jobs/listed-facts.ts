import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { StepReceiptDocument } from "../documents/step-receipt.ts";
import { jobSteps } from "../schema/jobs.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

const columns = selectList(jobSteps, ["receipt"], "s");

/** Returns the SQL that finds jobs of a project by their ids `w.id`, and returns none of another project. */
function ownJob(project: string): string {
  return `cross join lateral (select id from jobs where id = w.id and ${filterBy("project_id", project)} offset 0) j`;
}

/** Reads receipts of steps by the primary key of job_steps: of one step of a job or, if its id is empty, of all its steps. */
const selectReceipts = statement<RawRow<{ receipt: StepReceiptDocument }> & { job_id: string }>(
  "read_step_receipts",
  `select s.job_id, ${columns.text} from unnest($1::uuid[], $2::text[]) as w(id, step_id) ${ownJob("$3::uuid")}
   cross join lateral (select job_id, ordinal, receipt from job_steps
     where job_id = j.id and (w.step_id = '' or step_id = w.step_id) offset 0) s
   order by s.job_id, s.ordinal`,
);

/** A step of a job whose receipt is read. If `stepId` is empty, the receipts of all steps of the job are read. */
export type WantedReceipt = { readonly jobId: Id<"job">; readonly stepId: string };

/** Returns the receipts (stored summaries) of steps of a project's jobs, by job, in the order in which the steps began. */
export async function readStepReceipts(
  db: Executor,
  projectId: ProjectId,
  wanted: readonly WantedReceipt[],
): Promise<Map<Id<"job">, StepReceiptDocument[]>> {
  if (wanted.length === 0) return new Map();
  const ids = arrayLiteral(wanted.map(({ jobId }) => uuidOfId(jobId)));
  const rows = await selectReceipts(db, [ids, arrayLiteral(wanted.map(({ stepId }) => stepId)), uuidOfId(projectId)]);
  const byJob = Map.groupBy(rows, (row) => idOfUuid("job", row.job_id));
  return new Map([...byJob].map(([id, found]) => [id, found.map((row) => columns.read(row).receipt)]));
}

/** SQL for the state in a stored receipt: its fifth value in a packed document, or a field in a document of version 1. */
const stateOfReceipt = `case jsonb_typeof(receipt) when 'string'
  then (ltrim(receipt #>> '{}', '0123456789')::jsonb) ->> 4 else receipt ->> 'state' end`;

/** Counts the ended steps of jobs by the primary key of job_steps. */
const countDone = statement<{ id: string; done: number }>(
  "count_done_steps",
  `select j.id, s.done from unnest($1::uuid[]) as w(id) ${ownJob("$2::uuid")}
   cross join lateral (select count(*) filter (where ${stateOfReceipt} <> '')::int4 as done
     from job_steps where job_id = j.id offset 0) s`,
);

/** Returns how many steps of each job have ended. A job that does not exist is absent. */
export async function countDoneSteps(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<Map<Id<"job">, number>> {
  if (ids.length === 0) return new Map();
  const rows = await countDone(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  return new Map(rows.map(({ id, done }) => [idOfUuid("job", id), done]));
}
