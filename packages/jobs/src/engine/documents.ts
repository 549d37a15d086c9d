import type { Decision, RowCounts } from "../asks/types.ts";
import type { Continuation } from "../program/program.ts";

export type { RowCounts } from "../asks/types.ts";

/** Tool calls by class; of all of them, repetitions and those whose outcome is unknown. Undo calls are not among them. */
export type CallCounts = {
  readonly read: number;
  readonly write: number;
  readonly destructive: number;
  readonly retried: number;
  readonly unknown: number;
};

/** What a job used of its limits. */
export type Used = {
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
};

/** `jobs.saga`. `cause` and `reason` say, while it compensates, how the job ends afterwards. */
export type SagaDocument = {
  readonly state: "none" | "armed" | "compensating" | "compensated" | "stuck";
  readonly entries: number;
  readonly done: number;
  readonly failed: number;
  readonly cause?: "failed" | "aborted" | "cancelled";
};

/** `jobs.park`. Times are epoch milliseconds. */
export type ParkDocument = {
  readonly reason: "judgment" | "approval" | "wait" | "in_doubt" | "undo_stuck";
  readonly stepId: string;
  readonly since: number;
  readonly wakeAt?: number;
  readonly judgment?: {
    readonly pointId: string;
    readonly requestId: string;
    readonly question: string;
    readonly continuations: readonly Continuation[];
    readonly answerSchemaJson: string;
    readonly raisedAt: number;
    readonly counts?: RowCounts;
  };
};

/** One code among the errors of a step. */
export type StepErrorDocument = {
  readonly code: string;
  readonly count: number;
  readonly firstOrdinal: number;
  readonly sample: string;
};

/** How a step ended; empty while it is at work. */
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
  readonly decision?: Decision;
  readonly undo?: { readonly done: number; readonly failed: number };
};

/** The limits a job ran under, in the words of the message JobLimits. */
export type LimitsDocument = {
  readonly deadlineSeconds: number;
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
  readonly concurrency: number;
};

/** `jobs.receipt`, in the words of the message Receipt; times are epoch milliseconds. */
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
    readonly decision?: Decision;
  }[];
  readonly estimate: Readonly<Record<string, unknown>>;
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

/** No rows. */
export const noRows: RowCounts = { in: 0, ok: 0, failed: 0, skipped: 0, unknown: 0 };

/** No calls. */
export const noCalls: CallCounts = { read: 0, write: 0, destructive: 0, retried: 0, unknown: 0 };

/** The sum of two counts of rows. */
export function addRows(a: RowCounts, b: RowCounts): RowCounts {
  return {
    in: a.in + b.in,
    ok: a.ok + b.ok,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    unknown: a.unknown + b.unknown,
  };
}

/** The sum of two counts of calls. */
export function addCalls(a: CallCounts, b: CallCounts): CallCounts {
  return {
    read: a.read + b.read,
    write: a.write + b.write,
    destructive: a.destructive + b.destructive,
    retried: a.retried + b.retried,
    unknown: a.unknown + b.unknown,
  };
}

const errorsMax = 10;
const sampleMax = 500;

/** The errors of a step with one more occurrence; at most 10 codes, the most frequent first. */
export function addError(
  errors: readonly StepErrorDocument[],
  { code, ordinal, message }: { code: string; ordinal: number; message: string },
): StepErrorDocument[] {
  const known = errors.find((error) => error.code === code);
  const next =
    known === undefined
      ? [...errors, { code, count: 1, firstOrdinal: ordinal, sample: message.slice(0, sampleMax).toWellFormed() }]
      : errors.map((error) =>
          error === known
            ? { ...error, count: error.count + 1, firstOrdinal: Math.min(error.firstOrdinal, ordinal) }
            : error,
        );
  return next.sort((a, b) => b.count - a.count).slice(0, errorsMax);
}
