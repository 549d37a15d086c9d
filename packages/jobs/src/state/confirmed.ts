import { createHash } from "node:crypto";
import { canonicalJson } from "@svc/program";
import { type JobState, overridesOf } from "./job.ts";
import type { PlanProgress } from "./progress.ts";

/**
 * Digest of what a confirmation of a job covers: its params and arguments as answers changed them. Program, definitions and input of a job
 * never change.
 */
export function confirmationOf(state: Pick<JobState, "params" | "stepArgs" | "loaded">): string {
  const { params, stepArgs } = overridesOf(state);
  return createHash("sha256")
    .update(canonicalJson([params, stepArgs]))
    .digest("base64url");
}

/** The confirmation of a job with which no answer has changed anything. */
export const unchangedConfirmation: string = createHash("sha256")
  .update(canonicalJson([{}, {}]))
  .digest("base64url");

/** True if a person confirmed the job as it is now. */
export function isConfirmed(state: JobState): boolean {
  return state.plan?.confirmed !== undefined && state.plan.confirmed === confirmationOf(state);
}

/** What stays of a plan once its question is answered; undefined for nothing. */
export function keptOfPlan(plan: PlanProgress | undefined): PlanProgress | undefined {
  const { confirmed, changedBy } = plan ?? {};
  if (confirmed === undefined && changedBy === undefined) return undefined;
  return { ...(confirmed !== undefined && { confirmed }), ...(changedBy !== undefined && { changedBy }) };
}
