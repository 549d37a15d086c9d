import type { Step } from "@svc/program";
import type { Change } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { isScattered, OrderedRows } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";
import { writeInOrder } from "./write-in-order.ts";

/** Runs steps of kind `sort`: sorts the rows of a set (list of rows). Only the values of the sort keys are held in memory. */
export const sortKind: StepKind<"sort"> = {
  needs: "rows",
  set: "ok",
  advance: advanceSort,
  retried: "anew",
  answer: undefined,
};

/**
 * Only a sorted set with more rows than this is stored again in its new order. Fewer rows are read all at once, so their order in storage
 * does not matter.
 */
const scatteredMin = 2_000;

function advanceSort(at: StepAt<"sort">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    const held = new OrderedRows(step.by);
    let bytes = 0;
    function* hold(rows: readonly ReadRow[]) {
      for (const { rowNumber, data } of rows) {
        memory.add(held.add(rowNumber, data));
        yield undefined;
      }
      return true;
    }
    const take = (rows: readonly ReadRow[], chunkBytes: number) => {
      bytes += chunkBytes;
      return effects.inTurns(hold(rows));
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: true, take });
    if (!isRead) return memory.stop(writer);
    const numbers = await effects.inTurns(held.numbersInOrder());
    if (numbers.length <= scatteredMin || !isReadWhole(state, step.id) || !isScattered(numbers)) {
      await writer.choose(numbers, numbers.length);
      return writer.finish();
    }
    const isWritten = await writeInOrder({ state, numbers, bytes }, effects, { memory, writer });
    return isWritten ? writer.finish() : writer.giveUp();
  });
}

/**
 * True if at least one step reads all rows of the set (list of rows) that the `sort` step makes. False if, for example, later steps take
 * only the first rows. In that case it is not worthwhile to store the rows again in their new order.
 */
function isReadWhole({ loaded }: JobState, setId: string): boolean {
  return loaded.flow.instructions.some((at) => at.kind === "step" && readsWhole(at.step, setId));
}

function readsWhole(step: Step, setId: string): boolean {
  if ("right" in step && step.right === setId) return true;
  if (!("source" in step) || step.source !== setId) return false;
  return step.kind !== "limit" || step.max > scatteredMin;
}
