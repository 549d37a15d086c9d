import type { CallCounts, RowCounts } from "@svc/db/documents/calls";
import type { UsedDocument } from "@svc/db/documents/jobs";
import type { StepErrorDocument } from "@svc/db/documents/step-receipt";

/** Row counts of a step before any row is counted: zero for each state. */
export const noRows: RowCounts = { in: 0, ok: 0, failed: 0, skipped: 0, unknown: 0 };

/** Call counts of a step before any call is counted: zero for each kind. */
export const noCalls: CallCounts = { read: 0, write: 0, destructive: 0, retried: 0, unknown: 0 };

/** Used part of a job's limits at its start: zero for each limit. */
export const noUse: UsedDocument = { toolCalls: 0, writes: 0, rows: 0, asks: 0 };

/** Returns the sum of several counts of calls, for each kind of call (such as `read` and `write`). */
export function sumCalls(counts: readonly CallCounts[]): CallCounts {
  const sum = { ...noCalls };
  for (const { read, write, destructive, retried, unknown } of counts) {
    sum.read += read;
    sum.write += write;
    sum.destructive += destructive;
    sum.retried += retried;
    sum.unknown += unknown;
  }
  return sum;
}

const errorsMax = 10;

const sampleMax = 500;

/**
 * Returns the list of a step's errors after one more error has occurred. The list counts the errors by code. It has at most 10 codes, the
 * most frequent first.
 */
export function addError(
  errors: readonly StepErrorDocument[],
  {
    code,
    ordinal,
    message,
    toolSlug,
  }: Pick<StepErrorDocument, "code" | "toolSlug"> & { ordinal: number; message: string },
): StepErrorDocument[] {
  const known = errors.find((error) => error.code === code);
  const next =
    known === undefined
      ? [
          ...errors,
          {
            ...{ code, count: 1, firstOrdinal: ordinal, sample: message.slice(0, sampleMax).toWellFormed() },
            ...(toolSlug !== undefined && { toolSlug }),
          },
        ]
      : errors.map((error) =>
          error === known
            ? { ...error, count: error.count + 1, firstOrdinal: Math.min(error.firstOrdinal, ordinal) }
            : error,
        );
  return next.sort((a, b) => b.count - a.count).slice(0, errorsMax);
}
