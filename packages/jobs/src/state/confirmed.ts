import { createHash } from "node:crypto";
import { classToConfirm } from "@svc/catalog";
import { type AccessClass, accessClasses } from "@svc/db/schema/words";
import { callsOf, canonicalJson } from "@svc/program";
import { toolOf } from "../steps/invoke.ts";
import type { JobState, LoadedProgram } from "./job.ts";
import { overridesOf } from "./overrides.ts";
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

const worstClasses = new WeakMap<LoadedProgram, AccessClass>();

/** The highest access class among all calls of a program, its undo calls and its skills. */
export function worstClassOf(loaded: LoadedProgram): AccessClass {
  let worst = worstClasses.get(loaded);
  if (worst === undefined) {
    const requests = callsOf(loaded.program.steps).filter(({ http }) => http !== undefined);
    const used = new Set([
      ...[...loaded.tools.values()].map(({ action }) => classToConfirm(action)),
      ...requests.map((call) => toolOf({ loaded }, call).action.class),
      ...Object.values(loaded.skills).flatMap(({ estimate }) => estimate.accessClasses),
    ]);
    worst = accessClasses.findLast((one) => used.has(one)) ?? "read";
    worstClasses.set(loaded, worst);
  }
  return worst;
}
