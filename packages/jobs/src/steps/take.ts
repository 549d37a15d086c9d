import { type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import { keyOfRow, pickFields } from "./row-fields.ts";
import type { PartialCommit, StepAt, StepKind } from "./step-kind.ts";

/**
 * Step kind `take`: makes rows from a list in the job's input, part by part. These rows count against the job's limit of rows, as rows that
 * a tool call fetched do.
 */
export const takeKind: StepKind<"take"> = {
  needs: "nothing",
  set: "in",
  advance: advanceTake,
  retried: "anew",
  answer: undefined,
};

/** Number of rows that are stored with one commit while the step makes rows from a long list. */
const rowsAtOnce = 500;

async function advanceTake(at: StepAt<"take">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  const { state, step, instruction, progress } = at;
  let edits: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const list = valueAt(state.input, step.list) ?? [];
  if (!Array.isArray(list)) {
    const message = `the input has no list at ${step.list.join(".")}`;
    return { edits, next: { kind: "fail", stepId: step.id, code: "ROWS_MISSING", message } };
  }
  const from = progress?.next ?? 0;
  const rows = await effects.inTurns(newItems(step, list));
  if (state.used.rows + rows.length - from > state.loaded.program.limits.rows) {
    return { edits, next: { kind: "limit", stepId: step.id, limit: "rows" } };
  }
  for (let next = from; next < rows.length; next += rowsAtOnce) {
    if (edits.length > 1) {
      const taken = Math.min(next, rows.length);
      await keep([...edits, { kind: "progress", progress: { kind: "take", stepId: step.id, next: taken } }]);
      edits = [];
    }
    edits.push({ kind: "fetched", setId: step.id, rows: rows.slice(next, next + rowsAtOnce) });
  }
  // An empty list of rows records that the set exists and is empty.
  if (rows.length === 0) edits.push({ kind: "fetched", setId: step.id, rows: [] });
  const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
  return { edits: [...edits, finish], next: { kind: "on" } };
}

/**
 * Returns the items of a list as rows that have only the fields that the step keeps. If several items have the same key, only the first
 * becomes a row. The same list always gives the same rows.
 */
function* newItems({ key, keep }: StepAt<"take">["step"], list: readonly JsonValue[]) {
  const seen = new Set<string>();
  const rows: JsonObject[] = [];
  for (const item of list) {
    const row = pickFields(item, keep);
    const id = key === undefined ? undefined : keyOfRow(row, key);
    if (id === undefined || !seen.has(id)) rows.push(row);
    if (id !== undefined) seen.add(id);
    yield undefined;
  }
  return rows;
}
