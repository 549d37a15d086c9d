import type { Id, Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { sweepEndedJobs, sweepJobRows } from "@svc/db/jobs/sweep";

/** Settings of the sweep that deletes rows of jobs. Times are in milliseconds. */
export type JobRowSweepOptions = {
  readonly db: Executor;
  /** Milliseconds for which the rows of a job are kept after its end (SVC_JOB_ROW_RETENTION). */
  readonly rowRetentionMs: number;
  /** Maximum number of rows deleted in one batch. Default 2,000. */
  readonly batchMax?: number;
};

const everyMs = 600_000;

/** Returns a sweep that runs every 10 minutes and deletes the rows of jobs whose row retention is over. */
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

/** Settings of the sweep that deletes jobs. Times are in milliseconds. */
export type JobSweepOptions = {
  readonly db: Executor;
  /**
   * Milliseconds for which a job is kept after its end (SVC_JOB_RETENTION). It must not be shorter than the retention of the job's rows,
   * because the rows are deleted first.
   */
  readonly jobRetentionMs: number;
  /** Maximum number of jobs deleted in one batch. Default 500. */
  readonly batchMax?: number;
};

/** Number of log entries after which a batch of jobs to delete ends early. An ordinary job has about a dozen entries. */
const logEntriesMax = 10_000;

/** Returns a sweep that runs every 10 minutes and deletes whole jobs whose retention is over and whose rows are deleted. */
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
