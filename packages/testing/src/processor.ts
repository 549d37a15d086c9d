import { setImmediate } from "node:timers/promises";

/**
 * Processor time in milliseconds that the function `work` takes on the reference machine. Tests give their budgets of processor time for
 * that machine.
 */
const expectedMs = 16;

const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `row_${n}`, of: [n, n + 1], text: "x".repeat(n % 40) }));

/** Measures the speed of this machine: converts a fixed set of rows to JSON and back. Returns the processor time in milliseconds. */
function work(): number {
  const before = process.threadCpuUsage();
  JSON.stringify(JSON.parse(JSON.stringify(rows)));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Returns a budget of processor time, in milliseconds, for this machine at this moment. `ms`: the budget on the reference machine. The
 * function measures a known piece of work, and multiplies `ms` by how much slower this machine is. So the result is not exact. Tests use it
 * only to detect code that exceeds the budget many times.
 */
export function processorBudgetMs(ms: number): number {
  const took = Math.min(...[0, 1, 2, 3].map(work));
  return ms * Math.max(1, took / expectedMs);
}

/**
 * Runs a piece of work several times. Returns the longest processor time, in milliseconds, that it kept the event loop without a pause, in
 * the best of the runs: a single run may include garbage collection. Waiting for a busy machine does not count. `enoughMs`: no further run
 * follows one that stays below this time.
 */
export async function longestTurnMs(run: () => Promise<unknown>, enoughMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least >= enoughMs; tries++) {
    let [longest, isRunning] = [0, true];
    const watch = async () => {
      while (isRunning) {
        const before = process.threadCpuUsage();
        await setImmediate();
        const { user, system } = process.threadCpuUsage(before);
        longest = Math.max(longest, (user + system) / 1_000);
      }
    };
    const watching = watch();
    await run();
    isRunning = false;
    await watching;
    least = Math.min(least, longest);
  }
  return least;
}
