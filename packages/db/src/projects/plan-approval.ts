import { type Batcher, createBatcher, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { projectPolicies } from "../schema/projects.ts";
import type { PlanApproval } from "../schema/words.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

const columns = selectList(projectPolicies, ["projectId", "planApproval"]);

/** By primary key. Runs for every submission. */
const selectApprovals = statement<RawRow<{ projectId: ProjectId; planApproval: PlanApproval }>>(
  "read_plan_approvals",
  `select ${columns.text} from project_policies where project_id = any($1::uuid[])`,
);

const batchers = new WeakMap<object, Batcher<ProjectId, PlanApproval>>();

/** Which plans of a project need approval, as its policy says now; questions that come together share a statement. */
export function readPlanApproval(db: Executor, projectId: ProjectId): Promise<PlanApproval> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<ProjectId, PlanApproval>({
      sizeMax: 200,
      concurrency: 2,
      besideMin: 32,
      async run(ids) {
        const rows = await selectApprovals(db, [arrayLiteral([...new Set(ids)].map(uuidOfId))]);
        const approvals = new Map(rows.map(columns.read).map((policy) => [policy.projectId, policy.planApproval]));
        return ids.map((id) => approvals.get(id) ?? "never");
      },
    });
    batchers.set(db, batcher);
  }
  return batcher.add(projectId);
}
