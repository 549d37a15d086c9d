import type { Change } from "../state/change.ts";
import type { SetRow, StepEffects } from "./effects.ts";
import { keyOf } from "./row-key.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type Keep, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

/** The first row of a set for each value of some fields. The values met so far are held in memory, long ones as their digests. */
export const distinctKind: StepKind<"distinct"> = {
  needs: "rows",
  set: "ok",
  advance: advanceDistinct,
  retried: "anew",
  answer: undefined,
};

async function advanceDistinct(at: StepAt<"distinct">, effects: StepEffects, keep: Keep): Promise<Change> {
  const { state, step } = at;
  const writer = new SetWriter(at, keep);
  const seen = new Set<string>();
  function* firstOf(rows: readonly SetRow[]) {
    const first: number[] = [];
    for (const { rowNumber, data } of rows) {
      const key = keyOf(data, step.by);
      if (!seen.has(key)) first.push(rowNumber);
      seen.add(key);
      yield undefined;
    }
    return first;
  }
  const isRead = await eachChunk(state, sourceOf(step), effects, async (rows) => {
    await writer.choose(await effects.inTurns(firstOf(rows)), rows.length);
    return true;
  });
  return isRead ? writer.finish() : writer.giveUp();
}
