import { delay } from "../monotonic.ts";

/** When the jobs of a herd were in the store, milliseconds after they were due; infinite where they were not by the end. */
export type HerdLag = {
  readonly name: string;
  readonly count: number;
  /** How many were there at the end. */
  readonly there: number;
  readonly p50: number;
  readonly p99: number;
  readonly last: number;
};

/** How often it is counted what is there: the resolution of a lag. */
const lookMs = 50;

/** How many jobs are there, and how long after they were due. */
export type Look = () => Promise<{ readonly ms: number; readonly jobs: number }>;

/** Looks until so many jobs are there, or for so long; when half, 99 of 100 and all of them were. */
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
