import type { AskContinuation } from "../schema/words.ts";
import { type CallCounts, callCountFields, type RowCounts, rowCountFields } from "./calls.ts";
import { asWritten, documentType } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";
import { type DecisionDocument, type EstimateDocument, estimateFields, type SagaDocument } from "./programs.ts";

/**
 * Content of `jobs.child`: the step and row of the parent job that started a child job, and the part of the parent's limits that the child
 * job may use.
 */
export type ChildDocument = {
  readonly stepId: string;
  /** For a map step (a step that runs once for each row): position of the row. 0 for all other steps. */
  readonly ordinal: number;
  readonly limits: {
    readonly toolCalls: number;
    readonly writes: number;
    readonly rows: number;
    readonly asks: number;
    readonly concurrency: number;
  };
};

/** Reads and writes the JSON of the column `jobs.child`: the child job's place in its parent job, and its limits. */
export const childDocument = documentType<ChildDocument>("jobs.child", [asWritten]);

/**
 * Content of `jobs.park`: the reason for which a parked job (stored, with no node working on it) waits. Times are in epoch milliseconds.
 */
export type ParkDocument = {
  readonly reason:
    | "judgment"
    | "approval"
    | "wait"
    | "in_doubt"
    | "undo_stuck"
    | "poisoned"
    | "administrator"
    | "paused"
    | "child";
  readonly stepId: string;
  readonly since: number;
  readonly wakeAt?: number;
  readonly judgment?: {
    readonly pointId: string;
    readonly requestId: string;
    readonly question: string;
    readonly continuations: readonly AskContinuation[];
    readonly answerSchemaJson: string;
    readonly raisedAt: number;
    readonly counts?: RowCounts;
  };
  /**
   * Id of the child job that the parked (suspended) job waits for. Set only for the reason `child`. The child job itself waits for a
   * person.
   */
  readonly childJobId?: string;
  /**
   * The state that the job had before it was parked (stored as waiting), and gets again when it is released or resumed. Present for the
   * reasons `poisoned`, `administrator` and `paused`.
   */
  readonly before?: {
    readonly status: "queued" | "running" | "compensating";
    readonly lastError: string;
  };
};

/** Reads and writes the JSON of the column `jobs.park`: why a parked job waits. */
export const parkDocument = documentType<ParkDocument>("jobs.park", [asWritten]);

/** Limits of a job, such as its maximum number of calls. The fields have the names of the API's message JobLimits. */
export type LimitsDocument = {
  readonly deadlineSeconds: number;
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
  readonly concurrency: number;
};

/**
 * Content of `jobs.receipt`: the stored report of an ended job. The fields have the names of the API's message Receipt. Times are in epoch
 * milliseconds.
 */
export type ReceiptDocument = {
  readonly outcome: "complete" | "partial" | "none";
  readonly programHash: string;
  readonly rows: RowCounts;
  readonly calls: CallCounts;
  readonly limits: { readonly used: LimitsDocument; readonly max: LimitsDocument };
  readonly asks: {
    readonly raised: number;
    readonly answered: number;
    readonly defaulted: number;
    readonly withdrawn: number;
    readonly refusedAnswers: number;
  };
  readonly approvals: readonly {
    readonly approvalId: string;
    readonly stepId: string;
    readonly decision?: DecisionDocument;
  }[];
  readonly estimate: EstimateDocument;
  readonly actual: {
    readonly calls: number;
    readonly writes: number;
    readonly destructive: number;
    readonly rows: number;
    readonly asks: number;
  };
  readonly saga: Pick<SagaDocument, "state" | "entries" | "done" | "failed">;
  readonly resultJson: string;
  readonly lastSeq: number;
  readonly receiptHash: string;
};

const limitFields: PackedFields<LimitsDocument> = {
  deadlineSeconds: true,
  toolCalls: true,
  writes: true,
  rows: true,
  asks: true,
  concurrency: true,
};

const receiptFields = {
  outcome: true,
  programHash: true,
  rows: rowCountFields,
  calls: callCountFields,
  limits: { used: limitFields, max: limitFields },
  asks: { raised: true, answered: true, defaulted: true, withdrawn: true, refusedAnswers: true },
  approvals: true,
  estimate: estimateFields,
  actual: { calls: true, writes: true, destructive: true, rows: true, asks: true },
  saga: { state: true, entries: true, done: true, failed: true },
  resultJson: true,
  lastSeq: true,
  receiptHash: true,
} as const;

/**
 * The summary of a job (receipt) as it is stored: without the estimate (the maximum numbers of calls and rows). The estimate never changes,
 * and the job's row contains it. Versions up to 0.2 stored the estimate in the receipt.
 */
type StoredReceipt = Omit<ReceiptDocument, "estimate"> & { readonly estimate?: EstimateDocument };

/**
 * Returns a receipt (the report of an ended job) in its stored form: without the estimate, which another column of the job's row contains.
 */
export function storedReceipt({ estimate: _estimate, ...receipt }: StoredReceipt): StoredReceipt {
  return receipt;
}

/**
 * Returns the complete receipt of a job (the stored summary of a finished job). The job's estimate (its maximum numbers of calls and rows)
 * is stored in another column, so it is added to the stored receipt.
 */
export function wholeReceipt(stored: StoredReceipt, estimate: EstimateDocument): ReceiptDocument {
  return { ...stored, estimate: stored.estimate ?? estimate };
}

/** Reads and writes the JSON of the column `jobs.receipt`, which is the job's receipt (the stored, hashed summary of a finished job). */
export const receiptDocument = packedDocument<StoredReceipt>("jobs.receipt", [asWritten], receiptFields);

/** Reads and writes the JSON of the column `job_attempts.receipt`: the stored summary of an earlier attempt of a job. */
export const attemptReceiptDocument = packedDocument<StoredReceipt>("job_attempts.receipt", [asWritten], receiptFields);

/** Content of `jobs.used`: how much of each of its limits a job has used, such as its number of calls. */
export type UsedDocument = {
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
};

/** Reads and writes the JSON of the column `jobs.used`: how much of its limits a job has used. */
export const usedDocument = packedDocument<UsedDocument>("jobs.used", [asWritten], {
  toolCalls: true,
  writes: true,
  rows: true,
  asks: true,
});
