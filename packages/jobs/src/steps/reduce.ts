import type { Change, Edit } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { StepEffects } from "./effects.ts";
import { type StepAt, type StepKind, setChunkRows } from "./step-kind.ts";
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
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { next: fromOrdinal = 0, totals: before = {} } = progress ?? {};
  const { source: setId, states } = step;
  const withData = needsFields(step.as);
  const totals = step.as.map(([name]) => runningTotal(before[name]));
  const rows = await effects.readRows(state, { setId, states, fromOrdinal, limit: setChunkRows, withData });
  const fault = await effects.inTurns(addRows(totals, step.as, rows, state.scope));
  if (fault !== undefined) return { edits: begun, next: { kind: "fail", stepId: step.id, ...fault } };
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  const looked: Edit = {
    kind: "receipt",
    stepId: step.id,
    rows: { ...counts, in: counts.in + rows.length, ok: counts.ok + rows.length },
  };
  const last = rows.at(-1);
  if (last === undefined || rows.length < setChunkRows) {
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
      { kind: "progress", progress: { kind: "reduce", stepId: step.id, next: last.ordinal + 1, totals: kept } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
}
