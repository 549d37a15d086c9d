import type { Change } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type Keep, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

/** The first rows of a set. */
export const limitKind: StepKind<"limit"> = {
  needs: "rows",
  set: "ok",
  advance: advanceLimit,
  retried: "anew",
  answer: undefined,
};

async function advanceLimit(at: StepAt<"limit">, effects: StepEffects, keep: Keep): Promise<Change> {
  const { state, step } = at;
  const writer = new SetWriter(at, keep);
  let left = step.max;
  const isRead = await eachChunk(state, { ...sourceOf(step), withData: false }, effects, async (rows) => {
    const first = rows.slice(0, left);
    left -= first.length;
    await writer.choose(
      first.map(({ rowNumber }) => rowNumber),
      first.length,
    );
    return left > 0;
  });
  return isRead || left === 0 ? writer.finish() : writer.giveUp();
}
