import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobSteps } from "../schema/jobs.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { namesBut } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import type { JobStepRecord } from "./record.ts";

/** The columns of a step in a select list. */
export const stepColumns = selectList(jobSteps, namesBut(jobSteps, "jobId"));

/** A step as the driver gives it. */
export type StepRow = RawRow<JobStepRecord> & { job_id: string };

/** The steps of several jobs, by their primary key. */
export const selectSteps = statement<StepRow>(
  "load_job_steps",
  `select job_id, ${stepColumns.text} from job_steps where job_id = any($1::uuid[]) order by job_id, ordinal`,
);

/** The step of a row. */
export function stepOfRow(row: StepRow): JobStepRecord {
  const { stepId, ordinal, receipt, output } = stepColumns.read(row);
  return { stepId, ordinal, receipt, output };
}

/** What the steps of a job did and made, in the order they began. */
export async function loadJobSteps(db: Executor, jobId: Id<"job">): Promise<JobStepRecord[]> {
  return (await selectSteps(db, [arrayLiteral([uuidOfId(jobId)])])).map(stepOfRow);
}
