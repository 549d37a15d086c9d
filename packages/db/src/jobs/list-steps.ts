import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { filterBy } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";
import { type StepRow, stepColumns, stepOfRow } from "./load-steps.ts";
import type { JobStepRecord } from "./record.ts";

/** Jobs by primary key, the steps of each by theirs. */
const selectSteps = statement<StepRow>(
  "list_job_steps",
  `select s.* from jobs j cross join lateral (
     select job_id, ${stepColumns.text} from job_steps where job_id = j.id offset 0) s
   where j.id = any($1::uuid[]) and ${filterBy("j.project_id", "$2::uuid")}
   order by s.job_id, s.ordinal`,
);

/** The steps of several jobs of a project, in the order they began. */
export async function listJobSteps(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<Map<Id<"job">, JobStepRecord[]>> {
  const rows = await selectSteps(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  const steps = Map.groupBy(rows, (row) => row.job_id);
  return new Map(ids.map((id) => [id, (steps.get(uuidOfId(id)) ?? []).map(stepOfRow)]));
}
