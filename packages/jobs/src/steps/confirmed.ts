import type { ConfirmRule } from "@svc/core";
import type { EstimateDocument } from "@svc/db";
import { callsOf, type Program, readPins, runsOf } from "@svc/program";
import { isDestructivePin } from "./plan-text.ts";

/** A checked program, and what it is pinned to as JSON text, which is asked for where its bounds do not tell. */
export type ConfirmablePlan = {
  readonly program: Pick<Program, "steps">;
  readonly estimate: EstimateDocument;
  readonly readPins: () => Promise<string> | string;
};

/** Whether a person confirms a plan under a rule: it makes such a call, also to undo what it did. */
export async function isPlanConfirmed({ person }: ConfirmRule, plan: ConfirmablePlan): Promise<boolean> {
  const { accessClasses } = plan.estimate;
  if (person === "never") return false;
  if (accessClasses.includes("destructive") || (person === "writes" && accessClasses.includes("write"))) return true;
  return destroysUndoing(plan);
}

/** Bounds do not count what undoes. Of a skill that writes it is not told how it undoes that. */
async function destroysUndoing({ program: { steps }, readPins: textOf }: ConfirmablePlan): Promise<boolean> {
  const undone = callsOf(steps).flatMap(({ undo }) => undo?.tool ?? []);
  const runs = runsOf(steps);
  if (undone.length === 0 && runs.length === 0) return false;
  const { pins, skills } = readPins(await textOf());
  return (
    undone.some((slug) => isDestructivePin(pins, slug)) ||
    runs.some((name) => (skills[name]?.estimate.writesMax ?? 1) > 0)
  );
}
