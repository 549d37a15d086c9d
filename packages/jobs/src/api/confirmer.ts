import type { ConfirmRule, KeyId, ProjectId } from "@svc/core";
import { type Executor, readConfirmRules } from "@svc/db";
import { type ConfirmablePlan, isPlanConfirmed } from "../steps/confirmed.ts";

/** Whose plan it is: the keys that had a hand in it, and by which rules a person confirms their calls, as far as that is known. */
export type Planner = {
  readonly projectId: ProjectId;
  readonly keyIds: readonly KeyId[];
  readonly confirm?: readonly ConfirmRule[] | undefined;
};

/** The contact who confirms a plan before it begins, by the project's policy or the rule of one of its keys; undefined where nobody does. */
export async function confirmerOf(
  db: Executor,
  { projectId, keyIds, confirm = [] }: Planner,
  plan: ConfirmablePlan,
): Promise<string | undefined> {
  // What only reads is confirmed by nobody, whatever is said.
  if (!(await isPlanConfirmed({ person: "writes", contact: "" }, plan))) return undefined;
  for (const rule of [...confirm, ...(await readConfirmRules(db, projectId, keyIds))]) {
    if (await isPlanConfirmed(rule, plan)) return rule.contact;
  }
  return undefined;
}
