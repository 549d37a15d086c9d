import { createHash } from "node:crypto";
import { canonicalJson } from "@svc/program";
import { type JobState, overridesOf } from "./job.ts";
import type { PlanProgress } from "./progress.ts";

/**
 * Returns the digest of what a person's confirmation of a job covers: the job's params and arguments, with the changes that answers made.
 * The program, definitions and input of a job never change.
 */
export function confirmationOf(state: Pick<JobState, "params" | "stepArgs" | "loaded">): string {
  const { params, stepArgs } = overridesOf(state);
  return createHash("sha256")
    .update(canonicalJson([params, stepArgs]))
    .digest("base64url");
}

/** The confirmation of a job that no answer has changed. */
export const unchangedConfirmation: string = createHash("sha256")
  .update(canonicalJson([{}, {}]))
  .digest("base64url");

/** True if a person confirmed the job in its present form. */
export function isConfirmed(state: JobState): boolean {
  return state.plan?.confirmed !== undefined && state.plan.confirmed === confirmationOf(state);
}

/** Returns the part of a plan that is kept after the plan's question is answered, or undefined if nothing is kept. */
export function keptOfPlan(plan: PlanProgress | undefined): PlanProgress | undefined {
  const { confirmed, changedBy } = plan ?? {};
  if (confirmed === undefined && changedBy === undefined) return undefined;
  return { ...(confirmed !== undefined && { confirmed }), ...(changedBy !== undefined && { changedBy }) };
}
