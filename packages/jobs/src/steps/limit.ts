import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

/** Runs steps of kind `limit`: keeps only the first rows of a set (list of rows that an earlier step made). */
export const limitKind: StepKind<"limit"> = {
  needs: "rows",
  set: "ok",
  advance: advanceLimit,
  retried: "anew",
  answer: undefined,
};

function advanceLimit(at: StepAt<"limit">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    let left = step.max;
    const take = async (rows: readonly ReadRow[]) => {
      const first = rows.slice(0, left);
      left -= first.length;
      await writer.choose(
        first.map(({ rowNumber }) => rowNumber),
        first.length,
      );
      return left > 0;
    };
    const part = { ...sourceOf(step), withData: false };
    const isRead = await eachChunk(state, part, effects, { memory, holds: false, take });
    return isRead || left === 0 ? writer.finish() : memory.stop(writer);
  });
}
