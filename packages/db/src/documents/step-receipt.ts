import { type CallCounts, callCountFields, type RowCounts, rowCountFields } from "./calls.ts";
import { asWritten } from "./document.ts";
import { packedDocument } from "./packed.ts";
import type { DecisionDocument } from "./programs.ts";

/** One kind of error in a step: its code, the number of calls or rows with it, the first row that had it, and one sample text. */
export type StepErrorDocument = {
  readonly code: string;
  readonly count: number;
  readonly firstOrdinal: number;
  readonly sample: string;
  /** Tool of the first call with this error. Absent if it is the tool that the receipt names. */
  readonly toolSlug?: string;
};

/** Result of one step of a job. Empty while the step is still running. */
export type StepState = "" | "completed" | "partial" | "failed" | "skipped" | "simulated" | "undone";

/**
 * Content of `job_steps.receipt`: the stored summary of one step. Fields have the names of the message StepReceipt. Times are in epoch
 * milliseconds.
 */
export type StepReceiptDocument = {
  readonly stepId: string;
  readonly kind: string;
  readonly toolSlug: string;
  readonly toolVersion: string;
  readonly state: StepState;
  readonly attempts: number;
  readonly startedAt: number;
  readonly finishedAt?: number;
  readonly rows?: RowCounts;
  readonly calls?: CallCounts;
  readonly errors: readonly StepErrorDocument[];
  readonly decision?: DecisionDocument;
  readonly undo?: { readonly done: number; readonly failed: number };
};

/**
 * Reads and writes the JSON of the column `job_steps.receipt`: the stored summary of one step of a job (state, times, numbers of calls and
 * rows).
 */
export const stepReceiptDocument = packedDocument<StepReceiptDocument>("job_steps.receipt", [asWritten], {
  stepId: true,
  kind: true,
  toolSlug: true,
  toolVersion: true,
  state: true,
  attempts: true,
  startedAt: true,
  finishedAt: true,
  rows: rowCountFields,
  calls: callCountFields,
  errors: true,
  decision: true,
  undo: { done: true, failed: true },
});
