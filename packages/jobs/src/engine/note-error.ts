import { addError } from "./documents.ts";
import type { Run } from "./run.ts";

/** Notes an error in a step's receipt. */
export function noteErrorOf(run: Run, stepId: string, error: { code: string; ordinal: number; message: string }): void {
  run.patchReceipt(stepId, { errors: addError(run.receiptOf(stepId).errors, error) });
}
