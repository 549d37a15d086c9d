/**
 * Microseconds of the machine's monotonic clock. Every process of one machine reads the same clock, so a time taken in
 * the load generator can be subtracted from one taken in the sink.
 */
export function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Resolves after `ms`. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
