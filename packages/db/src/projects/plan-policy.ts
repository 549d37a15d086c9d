import { type Batcher, type ConfirmRule, createBatcher, noConfirmRule, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { projectPolicies } from "../schema/projects.ts";
import type { PlanApproval } from "../schema/words.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

type PlanPolicy = { readonly planApproval: PlanApproval; readonly confirm: ConfirmRule };

const columns = selectList(projectPolicies, ["projectId", "planApproval", "confirm"]);

/** By primary key. Runs for every submission. */
const selectPolicies = statement<RawRow<PlanPolicy & { projectId: ProjectId }>>(
  "read_plan_policies",
  `select ${columns.text} from project_policies where project_id = any($1::uuid[])`,
);

const unset: PlanPolicy = { planApproval: "never", confirm: noConfirmRule };
const batchers = new WeakMap<object, Batcher<ProjectId, PlanPolicy>>();

/** Which plans of a project need approval, as its policy says now; questions that come together share a statement. */
export async function readPlanApproval(db: Executor, projectId: ProjectId): Promise<PlanApproval> {
  return (await readPolicy(db, projectId)).planApproval;
}

/** Which calls of a project a person confirms, as its policy says now; asked with `readPlanApproval` it shares its statement. */
export async function readConfirmRule(db: Executor, projectId: ProjectId): Promise<ConfirmRule> {
  return (await readPolicy(db, projectId)).confirm;
}

function readPolicy(db: Executor, projectId: ProjectId): Promise<PlanPolicy> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<ProjectId, PlanPolicy>({
      sizeMax: 400,
      concurrency: 2,
      besideMin: 64,
      async run(ids) {
        const rows = await selectPolicies(db, [arrayLiteral([...new Set(ids)].map(uuidOfId))]);
        const policies = new Map(rows.map(columns.read).map((policy) => [policy.projectId, policy]));
        return ids.map((id) => policies.get(id) ?? unset);
      },
    });
    batchers.set(db, batcher);
  }
  return batcher.add(projectId);
}
