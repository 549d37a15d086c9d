import { isCall } from "@svc/program";
import type { Change, UndoOf } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { JobState } from "../state/job.ts";
import { undoOf } from "./arguments.ts";
import type { SetRow, StepEffects } from "./effects.ts";
import { answersOf, type MapAt } from "./map-row.ts";

/** Rows that are settled together, and their sealed bytes. */
const atOnce = { limit: 200, bytesMax: 1_048_576 };

/** Whether something of a map's rows in doubt would be undone, were they done. */
export function undoesDoubt({ isSimulated, loaded }: JobState, { calls }: MapAt["step"]): boolean {
  if (isSimulated || loaded.program.sagaOn.length === 0) return false;
  return calls.some((call) => isCall(call) && call.undo !== undefined);
}

/**
 * Rows in doubt that people treat as done, part by part: each is ok from then on, and the write that it stands at is undone as one that was
 * answered. Where its undo names the answer, which nobody has, it counts as an undo that failed.
 */
export async function settleDoubt({ state, step, progress }: MapAt, effects: StepEffects): Promise<Change> {
  const range = { setId: step.id, state: "unknown", fromOrdinal: 0, ...atOnce } as const;
  const { rows } = await effects.readRows(state, range);
  if (rows.length === 0) {
    const { acceptsDoubt: _accepts, ...kept } = progress;
    return { edits: [{ kind: "progress", progress: kept }], next: { kind: "on" } };
  }
  const entries: UndoOf[] = [];
  for (const row of rows) {
    const undo = await undoOfDoubt({ state, step }, row, effects);
    if (undo !== undefined) entries.push(undo);
  }
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  const settled = { ...counts, unknown: counts.unknown - rows.length, ok: counts.ok + rows.length };
  const done = rows.map(({ ordinal, rowNumber, doneCalls }) => {
    return { ordinal, rowNumber, state: "ok", doneCalls, errorCode: "", outputs: undefined } as const;
  });
  return {
    edits: [
      { kind: "armUndo", entries },
      { kind: "mapped", setId: step.id, rows: done },
      { kind: "receipt", stepId: step.id, rows: settled },
    ],
    next: { kind: "commit" },
  };
}

/** How the write is undone that a row in doubt stands at. */
async function undoOfDoubt(
  { state, step }: Pick<MapAt, "state" | "step">,
  row: SetRow,
  effects: StepEffects,
): Promise<UndoOf | undefined> {
  const call = step.calls[row.doneCalls];
  if (call === undefined || !isCall(call)) return undefined;
  const scope = { ...state.scope, row: row.data, calls: answersOf(row) };
  return undoOf(state, { call, stepId: step.id, ordinal: row.ordinal, scope }, effects);
}
