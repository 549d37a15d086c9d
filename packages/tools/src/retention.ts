import { batches, type Sweep } from "@svc/core";
import { sweepCallPaces } from "@svc/db/call-limits/repo";
import { doubtRunningToolCalls } from "@svc/db/calls/doubt-running";
import { sweepToolCalls } from "@svc/db/calls/repo";
import type { Database, Executor } from "@svc/db/connect";
import { sweepHookAnswers } from "@svc/db/hooks/answers";
import { sweepToolVectors } from "@svc/db/tool-vectors/repo";
import { keyLifeMs, nodeLost } from "./call/gate/keyed-call.ts";

/** What the sweep of calls is made of; times in milliseconds. */
export type CallSweepOptions = {
  db: Executor;
  /** How long calls are kept (SVC_CALL_RETENTION); a day at least, since idempotency keys bind for one. */
  callRetentionMs: number;
  /** Rows of one batch. Default 500. */
  batchMax?: number;
};

/** Far beyond a call's deadline of 30 s: its node is gone. */
const runningMaxMs = 600_000;
/** Calls that one statement looks at: some 2 ms. */
const lookMax = 5_000;

/** Every minute, calls past their retention; before that it ends those whose node is gone. */
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

/** Rows of one batch. */
const rowsMax = 500;

/** Every minute, what the store has of limits under whose keys nobody has called for so long that it means nothing. */
export function callPaceSweep({ db }: { readonly db: Executor }): Sweep {
  return {
    what: "call paces",
    everyMs: 60_000,
    round: (nowMs) => batches(rowsMax, () => sweepCallPaces(db, nowMs, rowsMax)),
  };
}

const dayMs = 86_400_000;
/** How long a vector is kept that no node reads: of a tool whose text was changed, or of a model that is no longer used. */
const unusedMs = 30 * dayMs;

/** Removes the vectors of tools that nobody uses any more. */
export function vectorSweep({ db }: { db: Database }): Sweep {
  return {
    what: "vectors of tools",
    everyMs: 3_600_000,
    round: (nowMs) => batches(rowsMax, () => sweepToolVectors(db, nowMs - unusedMs, rowsMax)),
  };
}
