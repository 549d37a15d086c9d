import { setTimeout as wait } from "node:timers/promises";

/** Resolves as soon as `holds` answers true; rejects with `what` when it has not for `limitMs`, 20 seconds unless stated. For tests that wait on real I/O. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what = holds.toString(),
  limitMs = 20_000,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`did not come true within ${limitMs} ms: ${what}`);
    await wait(1);
  }
}
