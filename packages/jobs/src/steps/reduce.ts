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
  advance: advanceReduce,
  retried: "anew",
  answer: undefined,
};

async function advanceReduce(at: StepAt<"reduce">, effects: StepEffects): Promise<Change> {
  const { state, step, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { source: setId, states } = step;
  const chunk = await effects.readChunk(state, {
    setId,
    states,
    fromOrdinal: progress?.next ?? 0,
    withData: needsFields(step.as),
  });
  const act = () => reduceChunk(at, { begun, chunk }, effects);
  if (chunk.bytes <= passingBytesMax) return act();
  return SetMemory.whilePassing(at, effects, { bytes: chunk.bytes, begun, act });
}

async function reduceChunk(
  { state, step, instruction, progress }: StepAt<"reduce">,
  { begun, chunk: { rows, next } }: { readonly begun: readonly Edit[]; readonly chunk: SetChunk },
  effects: StepEffects,
): Promise<Change> {
  const totals = step.as.map(([name]) => runningTotal(progress?.totals?.[name]));
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
