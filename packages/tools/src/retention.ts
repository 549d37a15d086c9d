import { batches, type Sweep } from "@svc/core";
import { sweepCallPaces } from "@svc/db/call-limits/repo";
import { doubtRunningToolCalls } from "@svc/db/calls/doubt-running";
import { sweepToolCalls } from "@svc/db/calls/repo";
import type { Database, Executor } from "@svc/db/connect";
import { sweepHookAnswers } from "@svc/db/hooks/answers";
import { sweepToolVectors } from "@svc/db/tool-vectors/repo";
import { keyLifeMs, nodeLost } from "./call/gate/keyed-call.ts";

/** Options of the sweep of calls; times in milliseconds. */
export type CallSweepOptions = {
  db: Executor;
  /** Retention of calls (SVC_CALL_RETENTION); at least a day, because idempotency keys last one. */
  callRetentionMs: number;
  /** Rows per batch. Default 500. */
  batchMax?: number;
};

/** Far beyond a call's deadline of 30 s: its node is gone. Milliseconds. */
const runningMaxMs = 600_000;
/** Calls scanned per statement: about 2 ms. */
const lookMax = 5_000;

/** Every minute, ends calls whose node is gone, then deletes calls past their retention. */
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

/** Rows per batch. */
const rowsMax = 500;

/** Every minute, deletes the state of limiter keys that have been unused until it expired. */
export function callPaceSweep({ db }: { readonly db: Executor }): Sweep {
  return {
    what: "call paces",
    everyMs: 60_000,
    round: (nowMs) => batches(rowsMax, () => sweepCallPaces(db, nowMs, rowsMax)),
  };
}

const dayMs = 86_400_000;
/** How long an unread vector is kept, milliseconds: its tool's text has changed, or its model is no longer used. */
const unusedMs = 30 * dayMs;

/** Deletes the vectors of tools that are no longer used. */
export function vectorSweep({ db }: { db: Database }): Sweep {
  return {
    what: "vectors of tools",
    everyMs: 3_600_000,
    round: (nowMs) => batches(rowsMax, () => sweepToolVectors(db, nowMs - unusedMs, rowsMax)),
  };
}
