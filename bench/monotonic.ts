/**
 * Microseconds of the machine's monotonic clock. All processes of a machine read the same clock, so times of the load generator and the
 * sink can be subtracted.
 */
export function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Resolves after `ms` milliseconds. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
