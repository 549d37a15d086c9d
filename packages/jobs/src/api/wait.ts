import type { Clock, Id } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { loadJob } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import type { JobEnd } from "../drive/context.ts";
import type { JobHints } from "./notes.ts";

/** Describes how a caller waits for the end of a job. */
type JobWait = {
  readonly jobId: Id<"job">;
  /** Longest time in milliseconds to wait until the job ends or needs an answer. */
  readonly waitMs: number;
  /** Signal that ends the waiting for a job. When it aborts, the wait rejects. */
  readonly signal: AbortSignal;
  /**
   * True if this node has just begun to run the job's steps. The node then notices the end of the job by itself, so the waiting call reads
   * the job only rarely. Default false.
   */
  readonly isDriven?: boolean | undefined;
  /** Called when the log of the job has grown. */
  readonly onGrown?: (() => Promise<void>) | undefined;
};

/** Functions with which requests on one node wait until a job ends, without reading it again and again. */
export type JobWaits = {
  /**
   * Waits for a job. The wait has no effect on the job. Resolves in one of these cases:
   * - The job has ended. If its driver (the code that runs the job's steps) on this node has just committed the end, the result is this
   *   end. Otherwise the caller must read the job.
   * - The time of the wait is over.
   * - The job waits for a person or for a later time.
   * - The job does not exist.
   * - This node stops.
   * Rejects if the signal of the wait aborts, with the reason of that signal.
   */
  until(wait: JobWait): Promise<JobEnd | undefined>;
  /** Ends all pending waits for the ends of jobs. From now on, `until` resolves at once. */
  end(): void;
};

/**
 * Shortest pause in milliseconds between two reads of a job that a call waits for. The pause doubles after each read, up to `pollMsMax`.
 */
const pollMsMin = 25;
const pollMsMax = 500;

/**
 * Creates the functions with which requests on this node wait until a job ends. A waiting request holds no database connection. If the job
 * ends on this node, the wait ends at once. If the job ends on a different node, repeated reads of the job find the end.
 */
export function createJobWaits({ db, clock, hints }: { db: Executor; clock: Clock; hints: JobHints }): JobWaits {
  const waiting = new Set<() => void>();
  let isEnding = false;
  return {
    async until({ jobId, waitMs, signal, isDriven = false, onGrown }) {
      const untilMs = clock.now() + waitMs;
      const leastMs = isDriven ? pollMsMax : pollMsMin;
      let [ended, seq, pauseMs, pause] = [undefined as JobEnd | undefined, 0, leastMs, new AbortController()];
      const wake = (end?: JobEnd) => {
        ended ??= end;
        // The abort has a reason, because an abort without a reason creates an exception with a stack trace.
        pause.abort("woken");
      };
      const stop = () => wake();
      const pass = () => clock.wait(Math.min(pauseMs, untilMs - clock.now()), pause.signal);
      const isOver = async () => {
        const job = await loadJob(db, jobId);
        if (job === undefined) return true;
        const hasGrown = job.lastSeq > seq;
        [seq, pauseMs] = [job.lastSeq, hasGrown ? leastMs : Math.min(2 * pauseMs, pollMsMax)];
        if (hasGrown) await onGrown?.();
        return isAtRest(job, untilMs);
      };
      const unsubscribe = hints.subscribe(jobId, wake);
      waiting.add(stop);
      signal.addEventListener("abort", stop, { once: true });
      try {
        if (isDriven && !isEnding) await pass();
        for (;;) {
          signal.throwIfAborted();
          // This signal is created before the job is read, so that it also reports commits that happen during the read.
          pause = new AbortController();
          if (ended !== undefined && onGrown === undefined) return ended;
          if ((await isOver()) || isEnding || clock.now() >= untilMs) return ended;
          await pass();
        }
      } finally {
        unsubscribe();
        waiting.delete(stop);
        signal.removeEventListener("abort", stop);
      }
    },
    end() {
      isEnding = true;
      for (const stop of waiting) stop();
    },
  };
}

/** True if it is useless to wait until `untilMs`: the job has ended, or it waits for a person or for a later time. */
function isAtRest({ finishedAt, status, park, cancelRequestedAt }: JobRecord, untilMs: number): boolean {
  if (finishedAt !== null) return true;
  // A job whose cancel was requested ends soon, so it is useful to wait for its end.
  if (cancelRequestedAt !== null) return false;
  if (status === "pending_plan_approval") return true;
  if (status !== "parked" || park === null) return false;
  return park.reason !== "wait" || (park.wakeAt ?? untilMs) >= untilMs;
}
