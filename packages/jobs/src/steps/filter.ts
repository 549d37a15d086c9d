import { byChunk, type MadeOfChunk } from "./by-chunk.ts";
import type { SetChunk, StepEffects } from "./effects.ts";
import { expressionFailed } from "./expression-fault.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Runs steps of kind `filter`: makes a new set (list of rows) of the rows for which an expression is true. */
export const filterKind: StepKind<"filter"> = {
  needs: "rows",
  set: "ok",
  advance: byChunk({ make: chooseRows }),
  retried: "anew",
  answer: undefined,
};

async function chooseRows(
  { state, step }: StepAt<"filter">,
  { rows }: SetChunk,
  effects: StepEffects,
): Promise<MadeOfChunk> {
  const outcomes = await effects.testRows(state, step.where, rows, () => effects.mustPause(state));
  const rowNumbers: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const { ordinal = 0, rowNumber = 0 } = rows[index] ?? {};
    if ("error" in outcome) {
      const where = `, at the row of ordinal ${ordinal}`;
      return { failed: expressionFailed(step.id, outcome, { what: "where", where }) };
    }
    if (outcome.value) rowNumbers.push(rowNumber);
  }
  const looked = outcomes.length;
  return { edits: [{ kind: "chosen", setId: step.id, rowNumbers, looked }], looked };
}
