import { formatDuration } from "@svc/core";
import { pathOf } from "../json.ts";
import { beyondDeadline } from "../limits.ts";
import type { Program } from "../program.ts";
import { type Step, stepsOf } from "../steps/index.ts";
import type { Scope } from "../types/scope.ts";
import { constantSpanMs } from "./constants.ts";
import type { Check } from "./context.ts";

/** What a part of a program waits for times: in any case, and on its longest way. Milliseconds. */
type Waited = { readonly leastMs: number; readonly mostMs: number };

const none: Waited = { leastMs: 0, mostMs: 0 };

/** How long a step itself waits, as far as that is known. */
type OwnMs = (step: Step) => number;

/**
 * The times that are waited for on one way through the program end before its deadline. One alone is looked at where it is read, unless it
 * is computed.
 */
export function checkWaits({ steps, limits: { deadlineMs } }: Program, scope: Scope, { faults }: Check): void {
  const spans = new Map<Step, number>();
  for (const step of stepsOf(steps)) {
    if (step.kind !== "wait") continue;
    const { wait, pointer } = step;
    const untilMs = "until" in wait && wait.until.kind === "computed" && constantSpanMs(wait.until.expression, scope);
    spans.set(step, "forMs" in wait ? wait.forMs : untilMs || 0);
    if (!untilMs || untilMs <= deadlineMs || faults.has("/limits/deadline")) continue;
    const [message, hint] = beyondDeadline(untilMs, deadlineMs);
    faults.addYounger("PROGRAM_LIMIT_INVALID", [...pathOf(pointer), "wait", "until"], message, hint);
  }
  const { mostMs } = waitedOfList(steps, (step) => spans.get(step) ?? 0);
  const isTold = [...spans.values()].some((ms) => ms > deadlineMs);
  if (mostMs <= deadlineMs || faults.has("/limits/deadline") || isTold) return;
  const message = `limits.deadline is ${formatDuration(deadlineMs)}, but the waits on one way through the steps are ${formatDuration(mostMs)} together`;
  const hint =
    "shorten them, or raise limits.deadline beyond that: until then the job expires before the last one ends";
  faults.addYounger("PROGRAM_LIMIT_INVALID", ["limits", "deadline"], message, hint);
}

/**
 * Conditions may exclude each other: of what is done on a condition only the longest is added to what is done in any case, so that the
 * way exists.
 */
function waitedOfList(steps: readonly Step[], ownMs: OwnMs): Waited {
  const each = steps.map((step) => waitedOfStep(step, ownMs));
  const leastMs = each.reduce((sum, waited) => sum + waited.leastMs, 0);
  return { leastMs, mostMs: leastMs + Math.max(0, ...each.map((waited) => waited.mostMs - waited.leastMs)) };
}

function waitedOfStep(step: Step, ownMs: OwnMs): Waited {
  const own = waitedInside(step, ownMs);
  const handled = step.onError === undefined ? none : waitedOfList(step.onError.steps, ownMs);
  const leastMs = step.when === undefined && step.onError === undefined ? own.leastMs : 0;
  return { leastMs, mostMs: Math.max(own.mostMs, handled.mostMs) };
}

function waitedInside(step: Step, ownMs: OwnMs): Waited {
  switch (step.kind) {
    case "if": {
      const [yes, no] = [waitedOfList(step.whenTrue, ownMs), waitedOfList(step.whenFalse, ownMs)];
      return { leastMs: Math.min(yes.leastMs, no.leastMs), mostMs: Math.max(yes.mostMs, no.mostMs) };
    }
    case "parallel": {
      const branches = step.branches.map((branch) => waitedOfList(branch.steps, ownMs));
      return {
        leastMs: Math.max(0, ...branches.map(({ leastMs }) => leastMs)),
        mostMs: Math.max(0, ...branches.map(({ mostMs }) => mostMs)),
      };
    }
    case "until":
      // One round at least.
      return waitedOfList(step.body, ownMs);
    default:
      return { leastMs: ownMs(step), mostMs: ownMs(step) };
  }
}
