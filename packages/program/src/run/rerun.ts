import type { Program } from "../program.ts";
import { listsOf, type Step, stepsOf } from "../steps/index.ts";

/** The steps that a rerun repeats, in program order, or why there is none. `block`: it would leave a block but an if. */
export type RepeatedSteps =
  | { readonly steps: readonly Step[] }
  | { readonly fault: "unknown" | "later" | "branch" | "block" };

/**
 * The steps that run again when a judge step sends the job back: from `from` up to the judge, both included, and everything in
 * branches between. `from` stands before the judge in its own list or, for a judge in a branch, in the list of the if. A round of an
 * until is not left: what is known of its rounds would be of another run.
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

/** Whether a way back from the judge to its place in a list leads out of another block than an if. */
function isLeft(list: readonly Step[], judge: string): boolean {
  return [...stepsOf(list)].some((step) => {
    const lists = step.kind === "if" ? [step.onError?.steps ?? []] : listsOf(step);
    return lists.some((inner) => holds(inner, judge));
  });
}

/** Whether a step stands in a list or in a branch of one of its steps. */
function holds(list: readonly Step[], id: string): boolean {
  return [...stepsOf(list)].some((step) => step.id === id);
}

/** Whether a step stands in another branch than the judge of a step that holds both: that branch is not on the way. */
function isElsewhere(all: readonly Step[], step: Step, judge: string): boolean {
  return all.map(listsOf).some((lists) => {
    const taken = lists.find((list) => holds(list, judge));
    return taken !== undefined && lists.some((list) => list !== taken && holds(list, step.id));
  });
}
