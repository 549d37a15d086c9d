import { createHash } from "node:crypto";
import { canonicalJson } from "@svc/program";
import { type JobState, overridesOf } from "./job.ts";
import type { PlanProgress } from "./progress.ts";

/**
 * Returns a digest of the changes that answers made to a job's params and arguments. A person's confirmation is valid only as long as this
 * digest stays the same. The program and input of a job never change.
 */
export function confirmationOf(state: Pick<JobState, "params" | "stepArgs" | "loaded">): string {
  const { params, stepArgs } = overridesOf(state);
  return createHash("sha256")
    .update(canonicalJson([params, stepArgs]))
    .digest("base64url");
}

/** The digest that `confirmationOf` returns for a job whose params and arguments were never changed by an answer. */
export const unchangedConfirmation: string = createHash("sha256")
  .update(canonicalJson([{}, {}]))
  .digest("base64url");

/** True if a person confirmed the job and no answer has changed it since. False otherwise. */
export function isConfirmed(state: JobState): boolean {
  return state.plan?.confirmed !== undefined && state.plan.confirmed === confirmationOf(state);
}

/**
 * Returns the parts of `plan` that are kept after people have decided: the confirmation, and the keys that changed the job. Returns
 * undefined if there are none. `plan`: what must happen before a job may run.
 */
export function keptOfPlan(plan: PlanProgress | undefined): PlanProgress | undefined {
  const { confirmed, changedBy } = plan ?? {};
  if (confirmed === undefined && changedBy === undefined) return undefined;
  return { ...(confirmed !== undefined && { confirmed }), ...(changedBy !== undefined && { changedBy }) };
}
