import type { Sweep } from "@svc/core";
import { type Executor, sweepJobRows } from "@svc/db";

/** What the sweep of rows is made of; times in milliseconds. */
export type JobRowSweepOptions = {
  readonly db: Executor;
  /** How long the rows of a job are kept after its end (SVC_JOB_ROW_RETENTION). */
  readonly rowRetentionMs: number;
  /** Rows of one batch. Default 2,000. */
  readonly batchMax?: number;
};

/** Every 10 minutes, what jobs processed that ended longer ago than their rows are kept. */
export function jobRowSweep({ db, rowRetentionMs, batchMax = 2_000 }: JobRowSweepOptions): Sweep {
  return {
    what: "job rows",
    everyMs: 600_000,
    async *round(nowMs) {
      let isOver = false;
      while (!isOver) {
        isOver = await sweepJobRows(db, nowMs - rowRetentionMs, batchMax);
        yield !isOver;
      }
    },
  };
}
