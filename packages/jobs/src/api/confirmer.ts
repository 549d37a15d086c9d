import { classToConfirm } from "@svc/catalog";
import { type ConfirmRule, confirmingRule, type KeyId, type ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { EstimateDocument } from "@svc/db/documents/estimate";
import { readConfirmRules } from "@svc/db/projects/plan-policy";
import type { Pins } from "@svc/program";

/** Whose plan it is: the keys that had a hand in it, and by which rules a person confirms their calls, as far as that is known. */
export type Planner = {
  readonly projectId: ProjectId;
  readonly keyIds: readonly KeyId[];
  readonly confirm?: readonly ConfirmRule[] | undefined;
};

/** Returns the classes by which a person confirms a plan: those of its estimate, and what its private tools count as. */
export function classesToConfirm(
  { accessClasses }: Pick<EstimateDocument, "accessClasses">,
  pins: Pins,
): Pick<EstimateDocument, "accessClasses"> {
  const actions = Object.values(pins).flatMap(({ definition }) => definition.actions);
  const isRaised = actions.some((action) => action.class !== classToConfirm(action));
  return { accessClasses: isRaised ? [...accessClasses, "destructive"] : accessClasses };
}

/**
 * Returns the contact who confirms a plan before it begins, by the project's policy or the rule of one of its keys; undefined if no rule
 * covers its calls. The driver looks again before the job sends anything (`ConfirmGate`).
 */
export async function confirmerOf(
  db: Executor,
  { projectId, keyIds, confirm = [] }: Planner,
  { accessClasses }: Pick<EstimateDocument, "accessClasses">,
): Promise<string | undefined> {
  const worst = accessClasses.at(-1) ?? "read";
  if (worst === "read") return undefined;
  return confirmingRule([...confirm, ...(await readConfirmRules(db, projectId, keyIds))], worst)?.contact;
}
