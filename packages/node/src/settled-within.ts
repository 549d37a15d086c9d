import type { Clock } from "@svc/core";

/** Resolves when `work` has resolved or rejected, or after `ms` milliseconds. */
export async function settledWithin(clock: Clock, ms: number, work: Promise<unknown> | undefined): Promise<void> {
  const settled = new AbortController();
  const waiting = clock.wait(Math.max(0, ms), settled.signal);
  await Promise.race([Promise.allSettled([work]), waiting]);
  settled.abort("settled");
}
