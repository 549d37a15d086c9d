import type { Id, Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { sweepEndedJobs, sweepJobRows } from "@svc/db/jobs/sweep";

/** What the sweep of rows is made of; times in milliseconds. */
export type JobRowSweepOptions = {
  readonly db: Executor;
  /** How long the rows of a job are kept after its end (SVC_JOB_ROW_RETENTION). */
  readonly rowRetentionMs: number;
  /** Rows of one batch. Default 2,000. */
  readonly batchMax?: number;
};

const everyMs = 600_000;

/** Every 10 minutes, what jobs processed that ended longer ago than their rows are kept. */
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

/** What the sweep of jobs is made of; times in milliseconds. */
export type JobSweepOptions = {
  readonly db: Executor;
  /** How long a job is kept after its end (SVC_JOB_RETENTION). Its rows must not be kept for longer: it goes after them. */
  readonly jobRetentionMs: number;
  /** Jobs of one batch. Default 500. */
  readonly batchMax?: number;
};

/** Of an ordinary job the log has a dozen entries: a batch of long ones ends sooner. */
const logEntriesMax = 10_000;

/** Every 10 minutes, whole jobs that ended longer ago than they are kept and whose rows are gone. */
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
