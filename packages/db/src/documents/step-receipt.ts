import { type CallCounts, callCountFields, type RowCounts, rowCountFields } from "./calls.ts";
import { asWritten } from "./document.ts";
import { packedDocument } from "./packed.ts";
import type { DecisionDocument } from "./programs.ts";

/** One error code of a step. */
export type StepErrorDocument = {
  readonly code: string;
  readonly count: number;
  readonly firstOrdinal: number;
  readonly sample: string;
};

/** Result of a step; empty while it runs. */
export type StepState = "" | "completed" | "partial" | "failed" | "skipped" | "simulated" | "undone";

/** `job_steps.receipt`, in the words of the message StepReceipt; times are epoch milliseconds. */
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

/** How `job_steps.receipt` is stored. */
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
