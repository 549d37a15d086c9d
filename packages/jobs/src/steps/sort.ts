import type { Change } from "../state/change.ts";
import type { SetRow, StepEffects } from "./effects.ts";
import { compareBy, type OrderedRow, orderedRow, sortInTurns } from "./row-order.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type Keep, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

/** The rows of a set in another order. What they are ordered by is held in memory, and nothing else of them. */
export const sortKind: StepKind<"sort"> = {
  needs: "rows",
  set: "ok",
  advance: advanceSort,
  retried: "anew",
  answer: undefined,
};

async function advanceSort(at: StepAt<"sort">, effects: StepEffects, keep: Keep): Promise<Change> {
  const { state, step } = at;
  const { by } = step;
  const writer = new SetWriter(at, keep);
  const held: OrderedRow[] = [];
  function* hold(rows: readonly SetRow[]) {
    for (const { rowNumber, data } of rows) {
      held.push(orderedRow(rowNumber, data, by));
      yield undefined;
    }
    return true;
  }
  const isRead = await eachChunk(state, sourceOf(step), effects, (rows) => effects.inTurns(hold(rows)));
  if (!isRead) return writer.giveUp();
  const sorted = await effects.inTurns(sortInTurns(held, compareBy(by)));
  const numbers = sorted.map(({ rowNumber }) => rowNumber);
  await writer.choose(numbers, numbers.length);
  return writer.finish();
}
