import {
  type Batcher,
  type ConfirmRule,
  confirmRulesOf,
  createBatcher,
  idOfUuid,
  type KeyId,
  noConfirmRule,
  type ProjectId,
  uuidOfId,
} from "@svc/core";
import type { Executor } from "../connect.ts";
import { projectPolicies } from "../schema/projects.ts";
import type { StoredPlanApproval } from "../schema/words.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

type PlanPolicy = { readonly planApproval: StoredPlanApproval; readonly confirm: ConfirmRule };

/** A request for rules: the project whose approval and confirmation rules are read, and the keys whose confirmation rules are read. */
type PolicyQuestion = { readonly projectId: ProjectId; readonly keyIds: readonly KeyId[] };

/** The project's policy about plans and calls, and the confirmation rules of the requested keys. */
type ConfirmPolicies = PlanPolicy & { readonly byKeys: readonly ConfirmRule[] };

const columns = selectList(projectPolicies, ["projectId", "planApproval", "confirm"]);

/**
 * Reads the approval and confirmation rules of projects and of API keys, both by primary key. A result row of a project has no `keyId`. svc
 * runs this statement for every submission of a job.
 */
const selectPolicies = statement<RawRow<PlanPolicy & { projectId: ProjectId }> & { keyId: string | null }>(
  "read_plan_policies",
  `select ${columns.text}, null::uuid as "keyId" from project_policies where project_id = any($1::uuid[])
   union all
   select project_id, 'never', confirm::text, id from api_keys where id = any($2::uuid[])`,
);

const unset: PlanPolicy = { planApproval: "never", confirm: noConfirmRule };
const batchers = new WeakMap<object, Batcher<PolicyQuestion, ConfirmPolicies>>();

/**
 * The rules for a program before it runs. `planApproval`: says if a person must approve it as a whole. `rules`: say which of its calls a
 * person must confirm (see `readConfirmRules`).
 */
export type PlanRules = { readonly planApproval: StoredPlanApproval; readonly rules: readonly ConfirmRule[] };

/** Returns the current rules that decide if the programs of a project's keys need approval, and which of their calls need confirmation. */
export async function readPlanRules(db: Executor, projectId: ProjectId, keyIds: readonly KeyId[]): Promise<PlanRules> {
  const { planApproval, confirm, byKeys } = await readPolicy(db, { projectId, keyIds });
  return { planApproval, rules: confirmRulesOf(confirm, ...byKeys) ?? [] };
}

/** Returns the project's current rule that says which plans (programs before they run) a person must approve. */
export async function readPlanApproval(db: Executor, projectId: ProjectId): Promise<StoredPlanApproval> {
  return (await readPolicy(db, { projectId, keyIds: [] })).planApproval;
}

/** Returns the rules that say which calls a person must confirm. The project's rule comes first, then the rules of the keys. */
export async function readConfirmRules(
  db: Executor,
  projectId: ProjectId,
  keyIds: readonly KeyId[],
): Promise<readonly ConfirmRule[]> {
  return (await readPlanRules(db, projectId, keyIds)).rules;
}

function readPolicy(db: Executor, asked: PolicyQuestion): Promise<ConfirmPolicies> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<PolicyQuestion, ConfirmPolicies>({
      sizeMax: 400,
      concurrency: 2,
      besideMin: 64,
      run: (questions) => readPolicies(db, questions),
    });
    batchers.set(db, batcher);
  }
  return batcher.add(asked);
}

async function readPolicies(db: Executor, questions: readonly PolicyQuestion[]): Promise<ConfirmPolicies[]> {
  const projectIds = new Set(questions.map(({ projectId }) => uuidOfId(projectId)));
  const keyIds = new Set(questions.flatMap((asked) => asked.keyIds.map(uuidOfId)));
  const policies = new Map<ProjectId, PlanPolicy>();
  const rules = new Map<KeyId, Pick<PlanPolicy, "confirm"> & { readonly projectId: ProjectId }>();
  for (const { keyId, ...row } of await selectPolicies(db, [
    arrayLiteral([...projectIds]),
    arrayLiteral([...keyIds]),
  ])) {
    const policy = columns.read(row);
    if (keyId === null) policies.set(policy.projectId, policy);
    else rules.set(idOfUuid("key", keyId), policy);
  }
  return questions.map(({ projectId, keyIds: asked }) => {
    const byKeys = asked.flatMap((keyId) => {
      const key = rules.get(keyId);
      return key?.projectId === projectId ? key.confirm : [];
    });
    return { ...(policies.get(projectId) ?? unset), byKeys };
  });
}
