import { batches, type Sweep } from "@svc/core";
import { sweepCallPaces } from "@svc/db/call-limits/repo";
import { doubtRunningToolCalls } from "@svc/db/calls/doubt-running";
import { sweepToolCalls } from "@svc/db/calls/repo";
import type { Database, Executor } from "@svc/db/connect";
import { sweepHookAnswers } from "@svc/db/hooks/answers";
import { sweepToolVectors } from "@svc/db/tool-vectors/repo";
import { keyLifeMs, nodeLost } from "./call/gate/keyed-call.ts";

/** Options of the sweep (regular task) that ends and deletes old tool calls. Times are in milliseconds. */
export type CallSweepOptions = {
  db: Executor;
  /** Time for which calls are kept, milliseconds (SVC_CALL_RETENTION). At least a day, because idempotency keys are valid for a day. */
  callRetentionMs: number;
  /** Maximum number of rows (calls, or answers of hooks about calls) that are deleted in one batch. Default 500. */
  batchMax?: number;
};

/** Age in milliseconds at which the node of a running call has certainly failed. A call takes at most 30 s. */
const runningMaxMs = 600_000;
/** Number of calls that one statement of the sweep scans. One statement takes about 2 ms. */
const lookMax = 5_000;

/**
 * Returns the sweep (regular task) of recorded tool calls, which runs every minute. It ends calls whose node failed, and deletes calls
 * whose retention time is over.
 */
export function callSweep({ db, callRetentionMs, batchMax = 500 }: CallSweepOptions): Sweep {
  return {
    what: "calls",
    everyMs: 60_000,
    async *round(nowMs) {
      const lost = { beforeMs: nowMs - runningMaxMs, message: nodeLost, limit: lookMax };
      yield* batches(lookMax, async () => (await doubtRunningToolCalls(db, lost)).looked);
      const beforeMs = nowMs - Math.max(callRetentionMs, keyLifeMs);
      yield* batches(batchMax, () => sweepToolCalls(db, beforeMs, batchMax));
      yield* batches(batchMax, () => sweepHookAnswers(db, beforeMs, batchMax));
    },
  };
}

/** Maximum number of rows that one batch deletes, when the rows that count the use of call limits have expired. */
const rowsMax = 500;

/**
 * Returns the sweep (regular deletion) of rows that store how much of a call limit is used. Every minute it deletes rows that have expired,
 * because no call has used them for some time.
 */
export function callPaceSweep({ db }: { readonly db: Executor }): Sweep {
  return {
    what: "call paces",
    everyMs: 60_000,
    round: (nowMs) => batches(rowsMax, () => sweepCallPaces(db, nowMs, rowsMax)),
  };
}

const dayMs = 86_400_000;
/**
 * Time for which a vector is kept after its last use, in milliseconds. A vector is not used any more if the tool's text or the model has
 * changed.
 */
const unusedMs = 30 * dayMs;

/**
 * Returns the sweep (regular task) that deletes old vectors (the numbers that represent a tool's text in the search). A vector is deleted
 * if no search has used it for 30 days.
 */
export function vectorSweep({ db }: { db: Database }): Sweep {
  return {
    what: "vectors of tools",
    everyMs: 3_600_000,
    round: (nowMs) => batches(rowsMax, () => sweepToolVectors(db, nowMs - unusedMs, rowsMax)),
  };
}
