import type { Clock } from "@svc/core";
import { type Executor, sweepJobRows } from "@svc/db";

/** What the retention of rows is made of; times in milliseconds. */
export type RowRetentionOptions = {
  readonly db: Executor;
  readonly clock: Clock;
  /** How long the rows of a job are kept after its end (SVC_JOB_ROW_RETENTION). */
  readonly rowRetentionMs: number;
  /** Pause between two rounds. Default 10 minutes. */
  readonly roundMs?: number;
  /** Rows of one batch. Default 2,000. */
  readonly batchMax?: number;
  onError(error: unknown): void;
};

/** Breath between two batches, so that a large job does not crowd out the hot path. */
const batchPauseMs = 50;

/** Removes what ended jobs processed, a batch at a time, from now until stopped. Any number of nodes may do so at once. */
export function startRowRetention(options: RowRetentionOptions): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const run = async () => {
    while (!stopped.signal.aborted) {
      try {
        await sweepRowsRound(options, stopped.signal);
      } catch (error) {
        options.onError(error);
      }
      await options.clock.wait(options.roundMs ?? 600_000, stopped.signal);
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

/** One round; returns when nothing that is past its time is left, or `signal` aborts. */
export async function sweepRowsRound(options: RowRetentionOptions, signal: AbortSignal): Promise<void> {
  const { db, clock, rowRetentionMs, batchMax = 2_000 } = options;
  while (!signal.aborted) {
    if (await sweepJobRows(db, clock.now() - rowRetentionMs, batchMax)) return;
    await clock.wait(batchPauseMs, signal);
  }
}
