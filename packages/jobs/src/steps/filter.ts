import type { Change, Edit } from "../state/change.ts";
import type { SetChunk, StepEffects } from "./effects.ts";
import { expressionFailed } from "./expression-fault.ts";
import { passingBytesMax, SetMemory } from "./set-memory.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** The rows of a set for which an expression holds, as a new set: a chunk an act, or less of it where the rows take long. */
export const filterKind: StepKind<"filter"> = {
  needs: "rows",
  set: "ok",
  advance: (at, effects) => advanceFilter(at, effects),
  retried: "anew",
  answer: undefined,
};

/** `given`: the chunk, where there was to be room for it first. */
async function advanceFilter(at: StepAt<"filter">, effects: StepEffects, given?: SetChunk): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { source: setId, states } = step;
  const chunk = given ?? (await effects.readChunk(state, { setId, states, fromOrdinal: progress?.next ?? 0 }));
  const { rows, next, bytes } = chunk;
  if (given === undefined && bytes > passingBytesMax) {
    const act = () => advanceFilter(at, effects, chunk);
    return SetMemory.whilePassing(at, effects, { bytes, begun, act });
  }
  const outcomes = await effects.testRows(state, step.where, rows, () => effects.mustPause(state));
  const rowNumbers: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const { ordinal = 0, rowNumber = 0 } = rows[index] ?? {};
    if ("error" in outcome) {
      const where = `, at the row of ordinal ${ordinal}`;
      return { edits: begun, next: expressionFailed(step.id, outcome, { what: "where", where }) };
    }
    if (outcome.value) rowNumbers.push(rowNumber);
  }
  const chosen: Edit = { kind: "chosen", setId: step.id, rowNumbers, looked: outcomes.length };
  // Of a chunk that takes long the rest is read again.
  const from = outcomes.length === rows.length ? next : rows[outcomes.length]?.ordinal;
  if (from === undefined) {
    const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
    return { edits: [...begun, chosen, finish], next: { kind: "on" } };
  }
  return {
    edits: [
      ...begun,
      chosen,
      { kind: "progress", progress: { kind: "filter", stepId: step.id, next: from } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
}
