import { formatDuration } from "@svc/core";
import type { Program } from "../program.ts";
import { listsOf, type Step } from "../steps/index.ts";
import type { Check } from "./context.ts";

/** What a part of a program waits for times: in any case, and on its longest way. Milliseconds. */
type Waited = { readonly leastMs: number; readonly mostMs: number };

const none: Waited = { leastMs: 0, mostMs: 0 };

/** The times that are waited for on one way through the program end before its deadline; one alone is looked at where it is read. */
export function checkWaits({ steps, limits: { deadlineMs } }: Program, { faults }: Check): void {
  const { mostMs } = waitedOfList(steps);
  if (mostMs <= deadlineMs || faults.has("/limits/deadline") || holdsLonger(steps, deadlineMs)) return;
  const message = `limits.deadline is ${formatDuration(deadlineMs)}, but the waits on one way through the steps are ${formatDuration(mostMs)} together`;
  const hint =
    "shorten them, or raise limits.deadline beyond that: until then the job expires before the last one ends";
  faults.addYounger("PROGRAM_LIMIT_INVALID", ["limits", "deadline"], message, hint);
}

function holdsLonger(steps: readonly Step[], deadlineMs: number): boolean {
  return steps.some((step) => ownMs(step) > deadlineMs || listsOf(step).some((list) => holdsLonger(list, deadlineMs)));
}

function ownMs(step: Step): number {
  return step.kind === "wait" && "forMs" in step.wait ? step.wait.forMs : 0;
}

/**
 * Conditions may exclude each other: of what is done on a condition only the longest is added to what is done in any case, so that the
 * way exists.
 */
function waitedOfList(steps: readonly Step[]): Waited {
  const each = steps.map(waitedOfStep);
  const leastMs = each.reduce((sum, waited) => sum + waited.leastMs, 0);
  return { leastMs, mostMs: leastMs + Math.max(0, ...each.map((waited) => waited.mostMs - waited.leastMs)) };
}

function waitedOfStep(step: Step): Waited {
  const own = waitedInside(step);
  const handled = step.onError === undefined ? none : waitedOfList(step.onError.steps);
  const leastMs = step.when === undefined && step.onError === undefined ? own.leastMs : 0;
  return { leastMs, mostMs: Math.max(own.mostMs, handled.mostMs) };
}

function waitedInside(step: Step): Waited {
  switch (step.kind) {
    case "if": {
      const [yes, no] = [waitedOfList(step.whenTrue), waitedOfList(step.whenFalse)];
      return { leastMs: Math.min(yes.leastMs, no.leastMs), mostMs: Math.max(yes.mostMs, no.mostMs) };
    }
    case "parallel": {
      const branches = step.branches.map((branch) => waitedOfList(branch.steps));
      return {
        leastMs: Math.max(0, ...branches.map(({ leastMs }) => leastMs)),
        mostMs: Math.max(0, ...branches.map(({ mostMs }) => mostMs)),
      };
    }
    case "until":
      // One round at least.
      return waitedOfList(step.body);
    default:
      return { leastMs: ownMs(step), mostMs: ownMs(step) };
  }
}
