import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { OrderedRows } from "./row-order.ts";
import { SetMemory } from "./set-memory.ts";
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

function advanceSort(at: StepAt<"sort">, effects: StepEffects, keep: Keep): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    const held = new OrderedRows(step.by);
    function* hold(rows: readonly ReadRow[]) {
      for (const { rowNumber, data } of rows) {
        memory.add(held.add(rowNumber, data));
        yield undefined;
      }
      return true;
    }
    const take = (rows: readonly ReadRow[]) => effects.inTurns(hold(rows));
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: true, take });
    if (!isRead) return memory.stop(writer);
    const numbers = await effects.inTurns(held.numbersInOrder());
    await writer.choose(numbers, numbers.length);
    return writer.finish();
  });
}
