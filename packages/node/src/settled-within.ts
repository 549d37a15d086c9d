import type { Clock } from "@svc/core";

/** Resolves when `work` has settled, in either way, or when `ms` milliseconds have passed. */
export async function settledWithin(clock: Clock, ms: number, work: Promise<unknown> | undefined): Promise<void> {
  const settled = new AbortController();
  const waiting = clock.wait(Math.max(0, ms), settled.signal);
  await Promise.race([Promise.allSettled([work]), waiting]);
  settled.abort("settled");
}
