import type { Clock } from "@svc/core";
import { doubtRunningCalls, type Executor, sweepToolCalls } from "@svc/db";
import { keyLifeMs, nodeLost } from "./keyed-call.ts";

/** What the retention of calls is made of; times in milliseconds. */
export type CallRetentionOptions = {
  db: Executor;
  clock: Clock;
  /** How long calls are kept (SVC_CALL_RETENTION); a day at least, since idempotency keys bind for one. */
  callRetentionMs: number;
  /** Pause between two rounds. Default 1 minute. */
  roundMs?: number;
  /** Rows of one batch. Default 500. */
  batchMax?: number;
  onError(error: unknown): void;
};

/** Far beyond a call's deadline of 30 s: its node is gone. */
const runningMaxMs = 600_000;
/** Calls that one statement ends. */
const doubtMax = 1_000;
/** Breath between two batches, so that a large round does not crowd out calls. */
const batchPauseMs = 50;

/**
 * Removes calls past their retention and ends those whose node is gone, a small batch at a time, from now until stopped. Any
 * number of nodes may do so at once.
 */
export function startCallRetention(options: CallRetentionOptions): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const run = async () => {
    while (!stopped.signal.aborted) {
      try {
        await sweepCallsRound(options, stopped.signal);
      } catch (error) {
        options.onError(error);
      }
      await options.clock.wait(options.roundMs ?? 60_000, stopped.signal);
    }
  };
  const running = run();
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

/** One round; returns when no call is past its time, or `signal` aborts. */
export async function sweepCallsRound(options: CallRetentionOptions, signal: AbortSignal): Promise<void> {
  const { db, clock, callRetentionMs, batchMax = 500 } = options;
  const nowMs = clock.now();
  const untilShort = async (limit: number, sweep: () => Promise<number>) => {
    while (!signal.aborted && (await sweep()) === limit) await clock.wait(batchPauseMs, signal);
  };
  await untilShort(doubtMax, () => doubtRunningCalls(db, nowMs - runningMaxMs, nodeLost));
  const beforeMs = nowMs - Math.max(callRetentionMs, keyLifeMs);
  await untilShort(batchMax, () => sweepToolCalls(db, beforeMs, batchMax));
}
