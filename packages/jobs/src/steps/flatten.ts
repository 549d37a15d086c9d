import { type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

/** Step kind `flatten`: makes one row of each item in a list field of the rows. */
export const flattenKind: StepKind<"flatten"> = {
  needs: "rows",
  set: "ok",
  advance: advanceFlatten,
  retried: "anew",
  answer: undefined,
};

function advanceFlatten(at: StepAt<"flatten">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    let isFull = false;
    const take = async (rows: readonly ReadRow[]) => {
      isFull = await effects.inTurns(flattened(step, rows, writer));
      return !isFull;
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: false, take });
    if (isFull) return writer.fail({ kind: "limit", stepId: step.id, limit: "rows" });
    return isRead ? writer.finish() : memory.stop(writer);
  });
}

/** Number of new rows that a `flatten` step (which makes one row of each list item) stores at once. */
const rowsAtOnce = 500;

/**
 * Makes one row of each list item of a `flatten` step, and stores the rows in groups. Returns true if it stopped because the job may not
 * have more rows.
 */
function* flattened(
  step: StepAt<"flatten">["step"],
  rows: readonly ReadRow[],
  writer: SetWriter,
): Generator<Promise<void> | undefined, boolean> {
  let made: JsonObject[] = [];
  let looked = 0;
  for (const { data } of rows) {
    looked++;
    const { [step.field]: list, ...others } = data;
    const items: readonly JsonValue[] = Array.isArray(list) ? list : [];
    for (const item of items) {
      if (writer.isFull(made.length + 1)) return true;
      made.push({ ...others, ...keptOf(step, item) });
      if (made.length < rowsAtOnce) continue;
      yield writer.make(made, looked);
      made = [];
      looked = 0;
    }
    yield undefined;
  }
  yield writer.make(made, looked);
  return false;
}

function keptOf({ keep }: StepAt<"flatten">["step"], item: JsonValue): JsonObject {
  return Object.fromEntries(keep.map(([name, path]) => [name, valueAt(item, path) ?? null]));
}
