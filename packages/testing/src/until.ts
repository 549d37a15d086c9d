import { setTimeout as wait } from "node:timers/promises";

/**
 * How long to rest before looking again, for who waits since `startedAt` (`performance.now()`): a fifth of that, 4 to 100 ms. What comes
 * soon is seen at once, and what takes long is not held up by the looks, each of which is work of a store or a server.
 */
export function pauseMs(startedAt: number): number {
  return Math.min(100, Math.max(4, (performance.now() - startedAt) / 5));
}

/** Resolves as soon as `holds` answers true; rejects with `what` when it has not for `limitMs`, 20 seconds unless stated. For tests that wait on real I/O. */
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
 * As `until`, for a test whose every look moves the clock: it looks as often from first to last, since what it waits for comes after so many
 * looks, not after so much time.
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
