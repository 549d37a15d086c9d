import type { Change, Edit } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { SetChunk, StepEffects } from "./effects.ts";
import { passingBytesMax, SetMemory } from "./set-memory.ts";
import type { StepAt, StepKind } from "./step-kind.ts";
import { addRows, needsFields, runningTotal, storedTotal, valuesOf } from "./totals.ts";

/** Values over a set: a chunk an act. */
export const reduceKind: StepKind<"reduce"> = {
  needs: "rows",
  set: undefined,
  advance: (at, effects) => advanceReduce(at, effects),
  retried: "anew",
  answer: undefined,
};

/** `given`: the chunk, where there was to be room for it first. */
async function advanceReduce(at: StepAt<"reduce">, effects: StepEffects, given?: SetChunk): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { source: setId, states } = step;
  const withData = needsFields(step.as);
  const totals = step.as.map(([name]) => runningTotal(progress?.totals?.[name]));
  const chunk =
    given ?? (await effects.readChunk(state, { setId, states, fromOrdinal: progress?.next ?? 0, withData }));
  const { rows, next, bytes } = chunk;
  if (given === undefined && bytes > passingBytesMax) {
    const act = () => advanceReduce(at, effects, chunk);
    return SetMemory.whilePassing(at, effects, { bytes, begun, act });
  }
  const fault = await effects.inTurns(addRows(totals, step.as, rows, state.scope));
  if (fault !== undefined) return { edits: begun, next: { kind: "fail", stepId: step.id, ...fault } };
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  const looked: Edit = {
    kind: "receipt",
    stepId: step.id,
    rows: { ...counts, in: counts.in + rows.length, ok: counts.ok + rows.length },
  };
  if (next === undefined) {
    return {
      edits: [
        ...begun,
        looked,
        { kind: "value", stepId: step.id, value: valuesOf(totals, step.as) },
        { kind: "finish", stepId: step.id, state: "completed", to: instruction.next },
      ],
      next: { kind: "on" },
    };
  }
  const kept = Object.fromEntries(step.as.map(([name], index) => [name, storedTotal(totals[index] ?? runningTotal())]));
  return {
    edits: [
      ...begun,
      looked,
      { kind: "progress", progress: { kind: "reduce", stepId: step.id, next, totals: kept } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
}
