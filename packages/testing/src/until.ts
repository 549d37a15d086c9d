import { setTimeout as wait } from "node:timers/promises";

/**
 * Returns the pause in milliseconds before the next check of a wait since `startedAt` (`performance.now()`): a fifth of the time waited, 4
 * to 100 ms. A quick result is noticed at once, and a slow one is not delayed by the checks, each of which costs the database or the server
 * work.
 */
export function pauseMs(startedAt: number): number {
  return Math.min(100, Math.max(4, (performance.now() - startedAt) / 5));
}

/**
 * Resolves as soon as `holds` returns true; rejects with `what` after `limitMs`, 20 seconds by default. For tests that wait for real I/O.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what = holds.toString(),
  limitMs = 20_000,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() > startedAt + limitMs) throw new Error(`did not come true within ${limitMs} ms: ${what}`);
    await wait(pauseMs(startedAt));
  }
}

/**
 * Like `until`, for tests in which every check moves the clock: the interval of checks stays the same, because the result depends on the
 * number of checks rather than on the time.
 */
export async function untilMoved(
  holds: () => boolean | Promise<boolean>,
  what = holds.toString(),
  limitMs = 20_000,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() > startedAt + limitMs) throw new Error(`did not come true within ${limitMs} ms: ${what}`);
    await wait(4);
  }
}
