import { delay } from "../monotonic.ts";
import type { System } from "../system.ts";
import { mapProgram } from "./map.ts";
import { readCall, submitJob, untilStatus } from "./setting.ts";

/** Rows of each map. The number is high, so that most of the time no map begins or ends. */
export const rowsEach = 5_000;

/**
 * Runs `use` while the given number of jobs is under way, each a map of reads. A job that ends is replaced by another. The last ones are
 * left to the end of the server. Throws if a job failed.
 */
export async function whileMapsRun<T>(system: System, jobs: number, use: () => Promise<T>): Promise<T> {
  let isOver = false;
  const runOne = async () => {
    while (!isOver) {
      const { id } = await submitJob(system, mapProgram(readCall, rowsEach));
      const ended = untilStatus(system, id, "JOB_STATUS_SUCCEEDED", 1_000);
      await Promise.race([ended, over]);
      // The error is ignored, because the server ends while the last jobs are still being read.
      if (isOver) ended.catch(() => {});
    }
  };
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const running = Promise.all(Array.from({ length: jobs }, runOne));
  try {
    // By then all jobs are in their maps.
    const used = delay(warmUpMs).then(use);
    return await Promise.race([used, running.then((): Promise<T> => used)]);
  } finally {
    isOver = true;
    end();
    await running;
  }
}

const warmUpMs = 5_000;
