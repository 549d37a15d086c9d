import { delay } from "../monotonic.ts";
import type { System } from "../system.ts";
import { mapProgram } from "./map.ts";
import { readCall, submitJob, untilStatus } from "./setting.ts";

/** Rows of each map: so many that most of the time none begins or ends. */
export const rowsEach = 5_000;

/**
 * Runs `use` while so many jobs are under way, each a map of reads; one that ends is followed by another. What is under way in the end
 * is left to the end of the server. Throws what a job failed with.
 */
export async function whileMapsRun<T>(system: System, jobs: number, use: () => Promise<T>): Promise<T> {
  let isOver = false;
  const runOne = async () => {
    while (!isOver) {
      const { id } = await submitJob(system, mapProgram(readCall, rowsEach));
      const ended = untilStatus(system, id, "JOB_STATUS_SUCCEEDED", 1_000);
      await Promise.race([ended, over]);
      // The server ends while the last ones are asked for.
      if (isOver) ended.catch(() => {});
    }
  };
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const running = Promise.all(Array.from({ length: jobs }, runOne));
  try {
    // Until all of them are in their maps.
    const used = delay(warmUpMs).then(use);
    return await Promise.race([used, running.then((): Promise<T> => used)]);
  } finally {
    isOver = true;
    end();
    await running;
  }
}

const warmUpMs = 5_000;
