import type { Change, Edit } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { StepEffects } from "./effects.ts";
import { type StepAt, type StepKind, setChunkRows, sourceOf } from "./step-kind.ts";
import { addRow, needsFields, runningTotal, storedTotal, type TotalFault, valuesOf } from "./totals.ts";

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
  const range = { ...sourceOf(step), fromOrdinal, limit: setChunkRows, withData: needsFields(step.as) };
  const rows = await effects.readRows(state, range);
  const totals = step.as.map(([name]) => runningTotal(before[name]));
  function* add(): Generator<undefined, TotalFault | undefined> {
    for (const row of rows) {
      const fault = addRow(totals, step.as, row, state.scope);
      if (fault !== undefined) return fault;
      yield;
    }
    return undefined;
  }
  const fault = await effects.inTurns(add());
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
