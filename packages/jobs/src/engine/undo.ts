import type { NewJobUndoEntry } from "@svc/db";
import type { CallStep, JsonObject, JsonValue } from "../program/program.ts";
import { resolveArguments } from "../program/resolve.ts";
import type { Run } from "./run.ts";

/**
 * How a call that ended well is undone; undefined when nothing is to be. Arguments are filled in now: what they name may be gone
 * later. One that cannot be filled in counts as an undo that failed: nobody could carry it out.
 */
export function undoEntryOf(
  run: Run,
  call: CallStep,
  {
    ordinal,
    output,
    row,
    calls,
    stepId = call.id,
  }: {
    ordinal: number;
    output: JsonValue;
    row?: JsonObject;
    calls?: JsonObject;
    stepId?: string;
  },
): NewJobUndoEntry | undefined {
  const { undo } = call;
  if (undo === undefined || run.isSimulated || run.program.sagaOn.length === 0) return undefined;
  const args = filled(run, undo, { output, row, calls });
  const entry = run.saga.entries + 1;
  run.saga = { ...run.saga, state: "armed", entries: entry, failed: run.saga.failed + (args === undefined ? 1 : 0) };
  if (args === undefined) {
    const { done, failed } = run.receiptOf(stepId).undo ?? { done: 0, failed: 0 };
    run.patchReceipt(stepId, { undo: { done, failed: failed + 1 } });
    return undefined;
  }
  return {
    entry,
    stepId,
    ordinal,
    toolSlug: undo.tool,
    entityId: undo.entity,
    args: run.seals.seal(`undo/${entry}`, args),
  };
}

function filled(
  run: Run,
  undo: NonNullable<CallStep["undo"]>,
  { output, row, calls }: { output: JsonValue; row: JsonObject | undefined; calls: JsonObject | undefined },
): JsonObject | undefined {
  const scope = { ...run.values(), output, ...(row && { row }), ...(calls && { calls }) };
  const resolved = resolveArguments(undo.args, scope);
  return "value" in resolved ? resolved.value : undefined;
}
