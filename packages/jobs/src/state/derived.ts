import { isObject } from "@svc/core";
import type { StepState } from "@svc/db/documents/step-receipt";
import type { JsonValue } from "@svc/program";
import { type Flow, stepOf } from "./flow.ts";
import type { DerivedState, JobState, StepEntry, StoredState } from "./job.ts";

/**
 * Returns the values that references in the program can use: the value of each step (`steps.<id>`) and the number of rows of each set
 * (`rows.<set>`). If rows of a set were lost, its number of rows is left out.
 */
export function followingFrom({ input, params, steps: entries, loaded: { flow } }: StoredState): DerivedState {
  const steps: Record<string, JsonValue> = {};
  const rows: Record<string, number> = {};
  const lostSets = lostSetsOf(entries, flow);
  for (const [id, { receipt, value }] of entries) {
    if (value !== undefined) steps[id] = value;
    const instruction = flow.instructions[flow.indexOf.get(id) ?? -1];
    const set = instruction?.kind === "step" ? instruction.set : undefined;
    if (set === undefined || lostSets.has(id)) continue;
    if (receipt.rows !== undefined) rows[id] = receipt.rows[set];
    else if (receipt.state === "skipped" || receipt.state === "failed") rows[id] = 0;
  }
  return { scope: { input, params, steps, rows }, lostSets };
}

const none: ReadonlySet<string> = new Set();

/** Returns the ids of the steps whose sets (lists of rows) may be incomplete because the step failed. */
function lostSetsOf(entries: JobState["steps"], flow: Flow): ReadonlySet<string> {
  if (![...entries.values()].some(hasFailedHandled)) return none;
  return new Set([...flow.indexOf.keys()].filter((id) => isLostSet(entries, flow, id)));
}

/**
 * True if a step's set may lack rows: the step failed and its error was handled, or an enclosing block failed before the step ended.
 * Without this check, the rows present would be taken for the whole set.
 */
function isLostSet(entries: JobState["steps"], flow: Flow, stepId: string): boolean {
  const own = entries.get(stepId);
  if (own !== undefined && hasFailedHandled(own)) return true;
  if (own !== undefined && madeStates.has(own.receipt.state)) return false;
  return stepOf(flow, stepId).inside.some(({ stepId: around, handles }) => {
    const block = handles ? undefined : entries.get(around);
    return block !== undefined && hasFailedHandled(block);
  });
}

const madeStates: ReadonlySet<StepState> = new Set(["completed", "partial", "simulated", "undone"]);

/**
 * True if the step failed and its error was handled; its value is then the error. False if the step did not fail, or its error was not
 * handled.
 */
function hasFailedHandled({ receipt: { state }, value }: StepEntry): boolean {
  return state === "failed" && isObject(value) && "error" in value;
}
