import type { Edit } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { Total } from "../state/progress.ts";
import { byChunk, type MadeOfChunk } from "./by-chunk.ts";
import type { SetChunk, StepEffects } from "./effects.ts";
import type { StepAt, StepKind } from "./step-kind.ts";
import { addRows, type RunningTotal, runningTotal, valuesOf } from "./totals.ts";

/** Runs steps of kind `reduce`: computes values over all rows of a set (list of rows), for example a sum. */
export const reduceKind: StepKind<"reduce"> = {
  needs: "rows",
  set: undefined,
  advance: byChunk({ make: addChunk }),
  retried: "anew",
  answer: undefined,
};

async function addChunk(
  { state, step, progress }: StepAt<"reduce">,
  { rows, next }: SetChunk,
  effects: StepEffects,
): Promise<MadeOfChunk> {
  const totals = step.as.map(([name]) => runningTotal(progress?.totals?.[name]));
  const fault = await effects.inTurns(addRows(totals, step.as, rows, state.scope));
  if (fault !== undefined) return { failed: { kind: "fail", stepId: step.id, ...fault } };
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  const looked = rows.length;
  const counted: Edit = {
    kind: "receipt",
    stepId: step.id,
    rows: { ...counts, in: counts.in + looked, ok: counts.ok + looked },
  };
  if (next === undefined) {
    return { edits: [counted, { kind: "value", stepId: step.id, value: valuesOf(totals, step.as) }], looked };
  }
  const kept = step.as.map(([name], index) => [name, storedTotal(totals[index] ?? runningTotal())] as const);
  return { edits: [counted], looked, kept: { totals: Object.fromEntries(kept) } };
}

/**
 * Returns a running total (for example a sum over the rows so far) in the form in which it is stored, so that the step can continue later.
 */
function storedTotal({ count, sum, best, text, list, bytes }: RunningTotal): Total {
  return {
    count,
    sum,
    best,
    ...(text !== "" && { text }),
    ...(list.length > 0 && { list }),
    ...(bytes > 0 && { bytes }),
  };
}
