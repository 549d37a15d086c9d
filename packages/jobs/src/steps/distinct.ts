import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { memoryOfText } from "./map-memory.ts";
import { keyOf } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

/**
 * Step kind `distinct`: keeps only the first row for each combination of values of some fields. The combinations found so far are held in
 * memory, long ones as digests.
 */
export const distinctKind: StepKind<"distinct"> = {
  needs: "rows",
  set: "ok",
  advance: advanceDistinct,
  retried: "anew",
  answer: undefined,
};

/**
 * Memory in bytes that is needed for one known combination of values, in addition to its text. Such combinations are kept to find duplicate
 * rows.
 */
const seenBytes = 48;

function advanceDistinct(at: StepAt<"distinct">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    const seen = new Set<string>();
    function* firstOf(rows: readonly ReadRow[]) {
      const first: number[] = [];
      for (const { rowNumber, data } of rows) {
        const key = keyOf(data, step.by);
        if (!seen.has(key)) {
          first.push(rowNumber);
          seen.add(key);
          memory.add(seenBytes + memoryOfText(key));
        }
        yield undefined;
      }
      return first;
    }
    const take = async (rows: readonly ReadRow[]) => {
      await writer.choose(await effects.inTurns(firstOf(rows)), rows.length);
      return true;
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: true, take });
    return isRead ? writer.finish() : memory.stop(writer);
  });
}
