import type { Program } from "../program.ts";
import { listsOf, type Step, stepsOf } from "../steps/index.ts";

/**
 * Result of a request to run steps again: `steps`, in the order of the program, or `fault`, the reason why they cannot run again.
 * `unknown`: there is no such step. `later`: the step comes after the question. `branch`: the step is in a different branch. `block`: the
 * question is inside a step such as `until`, which the job must not leave.
 */
export type RepeatedSteps =
  | { readonly steps: readonly Step[] }
  | { readonly fault: "unknown" | "later" | "branch" | "block" };

/**
 * Returns the steps from `from` to the `judge` step, both included. They run again if an answer at the `judge` step sends the job back.
 * Returns a fault if the job cannot go back to `from`.
 */
export function rerunOf(program: Program, from: string, judge: string): RepeatedSteps {
  const all = [...stepsOf(program.steps)];
  const start = all.findIndex(({ id }) => id === from);
  const end = all.findIndex(({ id }) => id === judge);
  if (start < 0 || end < 0) return { fault: "unknown" };
  if (start > end) return { fault: "later" };
  const list = [program.steps, ...all.flatMap(listsOf)].find((steps) => steps.some(({ id }) => id === from)) ?? [];
  if (!holds(list, judge)) return { fault: "branch" };
  if (isLeft(list, judge)) return { fault: "block" };
  return { steps: all.slice(start, end + 1).filter((step) => !isElsewhere(all, step, judge)) };
}

/**
 * True if the `judge` step (which asks people) is in an error handler, or inside a step such as `until`. A job must not leave these parts
 * to run earlier steps again.
 */
function isLeft(list: readonly Step[], judge: string): boolean {
  return [...stepsOf(list)].some((step) => {
    const lists = step.kind === "if" ? [step.onError?.steps ?? []] : listsOf(step);
    return lists.some((inner) => holds(inner, judge));
  });
}

/** True if a step is in a list, or in a branch of a step of the list. */
function holds(list: readonly Step[], id: string): boolean {
  return [...stepsOf(list)].some((step) => step.id === id);
}

/** True if `step` and the `judge` step (which asks people) are in different branches of the same step. Then `step` does not run again. */
function isElsewhere(all: readonly Step[], step: Step, judge: string): boolean {
  return all.map(listsOf).some((lists) => {
    const taken = lists.find((list) => holds(list, judge));
    return taken !== undefined && lists.some((list) => list !== taken && holds(list, step.id));
  });
}
