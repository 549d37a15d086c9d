import { delay } from "../monotonic.ts";

/**
 * Times at which the jobs of a herd were in the store, in milliseconds after their due time. Infinite if they were not there by the end.
 */
export type HerdLag = {
  readonly name: string;
  readonly count: number;
  /** Number of jobs at the end. */
  readonly there: number;
  readonly p50: number;
  readonly p99: number;
  readonly last: number;
};

/** Milliseconds between two counts of the jobs, which is the resolution of a lag. */
const lookMs = 50;

/** Returns the number of jobs, and the time since they were due. */
export type Look = () => Promise<{ readonly ms: number; readonly jobs: number }>;

/** Counts jobs until all are there or the time is over. Returns the times when half, 99 of 100 and all of them were there. */
export async function lagOf(
  { name, count, patienceMs }: { readonly name: string; readonly count: number; readonly patienceMs: number },
  look: Look,
): Promise<HerdLag> {
  const reached = new Map<number, number>();
  const shares = [0.5, 0.99, 1];
  let there = 0;
  for (;;) {
    const { ms, jobs } = await look();
    there = jobs;
    for (const share of shares) if (jobs >= count * share && !reached.has(share)) reached.set(share, ms);
    if (jobs >= count || ms > patienceMs) break;
    await delay(lookMs);
  }
  const [p50 = 0, p99 = 0, last = 0] = shares.map((share) => reached.get(share) ?? Number.POSITIVE_INFINITY);
  return { name, count, there, p50, p99, last };
}
