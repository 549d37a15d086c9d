import type { Program, Step } from "./program.ts";
import { stepsOf } from "./program.ts";

/** The steps that a rerun repeats, in program order, or why there is none. */
export type Rerun = { readonly steps: readonly Step[] } | { readonly fault: "unknown" | "later" | "branch" };

/**
 * The steps that run again when a judge step sends the job back: from `from` up to the judge, both included, and everything in
 * branches between. `from` stands before the judge in its own list or, for a judge in a branch, in the list of the if.
 */
export function rerunOf(program: Program, from: string, judge: string): Rerun {
  const all = [...stepsOf(program.steps)];
  const start = all.findIndex(({ id }) => id === from);
  const end = all.findIndex(({ id }) => id === judge);
  if (start < 0 || end < 0) return { fault: "unknown" };
  if (start > end) return { fault: "later" };
  const list = listsOf(program.steps).find((steps) => steps.some(({ id }) => id === from)) ?? [];
  const reaches = list.some((step) => step.id === judge || (step.kind === "if" && holds(step, judge)));
  if (!reaches) return { fault: "branch" };
  return { steps: all.slice(start, end + 1).filter((step) => !isElsewhere(all, step, judge)) };
}

function listsOf(steps: readonly Step[]): (readonly Step[])[] {
  return [steps, ...steps.flatMap((step) => (step.kind === "if" ? [step.whenTrue, step.whenFalse] : []))];
}

function holds(step: Step & { readonly kind: "if" }, id: string): boolean {
  return [...step.whenTrue, ...step.whenFalse].some((inner) => inner.id === id);
}

/** Whether a step stands in the other branch of the if that the judge stands in: that branch is not on the way. */
function isElsewhere(all: readonly Step[], step: Step, judge: string): boolean {
  return all.some((candidate) => {
    if (candidate.kind !== "if" || !holds(candidate, judge)) return false;
    const other = candidate.whenTrue.some(({ id }) => id === judge) ? candidate.whenFalse : candidate.whenTrue;
    return other.some(({ id }) => id === step.id);
  });
}
