import { type ConfirmRule, noConfirmRule, type ProjectId } from "@svc/core";
import { type Executor, readConfirmRule } from "@svc/db";
import { type ConfirmablePlan, isPlanConfirmed } from "../steps/confirmed.ts";

/** Whose plan it is, and what a person confirms of their calls beside what the project's policy says. */
export type Planner = { readonly projectId: ProjectId; readonly confirm?: ConfirmRule | undefined };

/** The contact who confirms a plan before it begins, by the project's policy and its planner's own rule; undefined where nobody does. */
export async function confirmerOf(
  db: Executor,
  { projectId, confirm = noConfirmRule }: Planner,
  plan: ConfirmablePlan,
): Promise<string | undefined> {
  // What only reads is confirmed by nobody, whatever is said.
  if (await isPlanConfirmed(confirm, plan)) return confirm.contact;
  const isAnyConfirmed = await isPlanConfirmed({ person: "writes", contact: "" }, plan);
  const rule = isAnyConfirmed ? await readConfirmRule(db, projectId) : noConfirmRule;
  return (await isPlanConfirmed(rule, plan)) ? rule.contact : undefined;
}
