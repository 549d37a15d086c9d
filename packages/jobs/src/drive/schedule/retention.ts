import type { Id, Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { sweepEndedJobs, sweepJobRows } from "@svc/db/jobs/sweep";

/** Settings of the sweep of rows, times in milliseconds. */
export type JobRowSweepOptions = {
  readonly db: Executor;
  /** How long the rows of a job are kept after its end (SVC_JOB_ROW_RETENTION). */
  readonly rowRetentionMs: number;
  /** Rows of one batch. Default 2,000. */
  readonly batchMax?: number;
};

const everyMs = 600_000;

/** Returns the sweep that deletes, every 10 minutes, the rows of jobs whose retention is over. */
export function jobRowSweep({ db, rowRetentionMs, batchMax = 2_000 }: JobRowSweepOptions): Sweep {
  return {
    what: "job rows",
    everyMs,
    async *round(nowMs) {
      let isOver = false;
      while (!isOver) {
        isOver = await sweepJobRows(db, nowMs - rowRetentionMs, batchMax);
        yield !isOver;
      }
    },
  };
}

/** Settings of the sweep of jobs, times in milliseconds. */
export type JobSweepOptions = {
  readonly db: Executor;
  /** How long a job is kept after its end (SVC_JOB_RETENTION). Its rows must not be kept longer, because it is deleted after them. */
  readonly jobRetentionMs: number;
  /** Jobs of one batch. Default 500. */
  readonly batchMax?: number;
};

/** An ordinary job has a dozen log entries. A batch of long ones ends sooner. */
const logEntriesMax = 10_000;

/** Returns the sweep that deletes, every 10 minutes, whole jobs whose retention is over and whose rows are gone. */
export function jobSweep({ db, jobRetentionMs, batchMax = 500 }: JobSweepOptions): Sweep {
  return {
    what: "jobs",
    everyMs,
    async *round(nowMs) {
      let after: Id<"job"> | undefined;
      do {
        const batch = { beforeMs: nowMs - jobRetentionMs, after, limit: batchMax, logEntriesMax };
        after = (await sweepEndedJobs(db, batch)).last;
        yield after !== undefined;
      } while (after !== undefined);
    },
  };
}
