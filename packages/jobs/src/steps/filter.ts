import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import { expressionFailed } from "./expression-fault.ts";
import { type StepAt, type StepKind, setChunkRows } from "./step-kind.ts";

/** The rows of a set for which an expression holds, as a new set: a chunk an act, or less of it where the rows take long. */
export const filterKind: StepKind<"filter"> = {
  needs: "rows",
  set: "ok",
  advance: advanceFilter,
  retried: "anew",
  answer: undefined,
};

async function advanceFilter(at: StepAt<"filter">, effects: StepEffects): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const fromOrdinal = progress?.next ?? 0;
  const rows = await effects.readRows(state, {
    setId: step.source,
    states: step.states,
    fromOrdinal,
    limit: setChunkRows,
  });
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
  const last = rows[outcomes.length - 1];
  if (last === undefined || (outcomes.length === rows.length && rows.length < setChunkRows)) {
    const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
    return { edits: [...begun, chosen, finish], next: { kind: "on" } };
  }
  return {
    edits: [
      ...begun,
      chosen,
      { kind: "progress", progress: { kind: "filter", stepId: step.id, next: last.ordinal + 1 } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
}
