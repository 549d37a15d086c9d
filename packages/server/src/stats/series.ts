/** What is counted over time, as the store names it. */
export const activitySeries = ["events", "deliveries", "delivery_latency", "calls", "call_latency", "jobs"] as const;
export type ActivitySeries = (typeof activitySeries)[number];

/** Upper ends of the buckets of latencies but the last, milliseconds: each 1.6 times the one before. */
export const bucketBounds: readonly number[] = Array.from({ length: 23 }, (_, index) => {
  return Math.round(1.6 ** index * 100) / 100;
});

/** The bucket that a latency falls into, from 0 to 23. */
export function bucketOf(ms: number): number {
  if (ms <= 1) return 0;
  const guess = Math.min(bucketBounds.length, Math.ceil(Math.log(ms) / logOfStep));
  // Bounds are rounded, and so is the logarithm.
  if (guess > 0 && ms <= (bucketBounds[guess - 1] ?? 0)) return guess - 1;
  return guess < bucketBounds.length && ms > (bucketBounds[guess] ?? Number.POSITIVE_INFINITY) ? guess + 1 : guess;
}

const logOfStep = Math.log(1.6);

/** The latency that `share` of those in the buckets did not exceed, milliseconds: within its bucket by its place there. 0 for none. */
export function percentileOf(buckets: readonly number[], share: number): number {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  const wanted = share * total;
  let below = 0;
  for (const [index, count] of buckets.entries()) {
    if (count > 0 && below + count >= wanted) {
      const low = index === 0 ? 0 : (bucketBounds[index - 1] ?? 0);
      const high = bucketBounds[index] ?? low;
      return low + ((high - low) * (wanted - below)) / count;
    }
    below += count;
  }
  return 0;
}
