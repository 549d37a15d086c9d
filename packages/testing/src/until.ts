import { setTimeout as wait } from "node:timers/promises";

/**
 * Returns the pause in milliseconds before a condition is checked again. `startedAt`: start of the wait (`performance.now()`). The pause is
 * a fifth of the time waited so far, between 4 and 100 ms. So a quick result is noticed at once, and a slow result is not delayed further
 * by many checks.
 */
export function pauseMs(startedAt: number): number {
  return Math.min(100, Math.max(4, (performance.now() - startedAt) / 5));
}

/**
 * Milliseconds after which a wait in a test fails. The time is long and only ends waits that hang: on a busy machine, work that usually
 * takes a second may take half a minute.
 */
export const patienceMs = 60_000;

/** Resolves as soon as `holds` returns true. Rejects with the text `what` after `limitMs`. For tests that wait for real I/O. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what = holds.toString(),
  limitMs = patienceMs,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() > startedAt + limitMs) throw new Error(`did not come true within ${limitMs} ms: ${what}`);
    await wait(pauseMs(startedAt));
  }
}

/**
 * Waits like `until`, for tests in which every check moves the clock. The interval between checks is constant, because the result depends
 * on the number of checks and not on the time waited.
 */
export async function untilMoved(
  holds: () => boolean | Promise<boolean>,
  what = holds.toString(),
  limitMs = patienceMs,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() > startedAt + limitMs) throw new Error(`did not come true within ${limitMs} ms: ${what}`);
    await wait(4);
  }
}
