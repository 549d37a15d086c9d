import { type Batcher, type ConfirmRule, createBatcher, noConfirmRule, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { projectPolicies } from "../schema/projects.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

const columns = selectList(projectPolicies, ["projectId", "confirm"]);

/** By primary key. Runs for every submission. */
const selectRules = statement<RawRow<{ projectId: ProjectId; confirm: ConfirmRule }>>(
  "read_confirm_rules",
  `select ${columns.text} from project_policies where project_id = any($1::uuid[])`,
);

const batchers = new WeakMap<object, Batcher<ProjectId, ConfirmRule>>();

/** Which calls of a project a person confirms, as its policy says now; questions that come together share a statement. */
export function readConfirmRule(db: Executor, projectId: ProjectId): Promise<ConfirmRule> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<ProjectId, ConfirmRule>({
      sizeMax: 200,
      concurrency: 2,
      besideMin: 32,
      async run(ids) {
        const rows = await selectRules(db, [arrayLiteral([...new Set(ids)].map(uuidOfId))]);
        const rules = new Map(rows.map(columns.read).map((policy) => [policy.projectId, policy.confirm]));
        return ids.map((id) => rules.get(id) ?? noConfirmRule);
      },
    });
    batchers.set(db, batcher);
  }
  return batcher.add(projectId);
}
