import type { ToolSearch } from "@svc/tools";
import { Histogram, type LatencySummary } from "../histogram.ts";
import { monotonicMicros } from "../monotonic.ts";

/** A text that describes what a person wants, and the tools that fit it. */
export type SearchCase = { readonly intent: string; readonly accepts: readonly string[] };

/** Quality of a search: the shares of cases with a fitting tool in first place, with one among the first five, and without any result. */
export type Recall = {
  readonly at1: number;
  readonly at5: number;
  readonly empty: number;
  readonly misses: readonly Miss[];
};

/** A case whose first result does not fit. `rank` is the place of the first fitting tool, from 1, or 0 if none is among the first eight. */
export type Miss = { readonly searched: SearchCase; readonly rank: number; readonly found: readonly string[] };

/** Returns the slugs that match a query, best first. */
export type Find = (query: string) => readonly string[] | Promise<readonly string[]>;

/** Returns a function that searches and returns slugs. */
export function finderOf(search: ToolSearch): (query: string) => readonly string[] {
  return (query) => search.search({ query }).results.map(({ tool }) => tool.slug);
}

/** Searches for every case once, one after the other. */
export async function recallOf(find: Find, cases: readonly SearchCase[]): Promise<Recall> {
  const outcomes: Miss[] = [];
  for (const searched of cases) {
    const found = await find(searched.intent);
    outcomes.push({ searched, found, rank: found.findIndex((slug) => searched.accepts.includes(slug)) + 1 });
  }
  const shareWithin = (last: number) => outcomes.filter(({ rank }) => rank > 0 && rank <= last).length / cases.length;
  const empty = outcomes.filter(({ found }) => found.length === 0).length / cases.length;
  return { at1: shareWithin(1), at5: shareWithin(5), empty, misses: outcomes.filter(({ rank }) => rank !== 1) };
}

/** Duration of searches: elapsed time, and processor time, which other work on the machine hardly changes. */
export type SearchTimes = { readonly wall: LatencySummary; readonly processor: LatencySummary };

/** Measures searches after everything is indexed: `rounds` rounds over all cases, after one round that does not count. */
export function timesOf(search: ToolSearch, cases: readonly SearchCase[], rounds: number): SearchTimes {
  const [wall, processor] = [new Histogram(), new Histogram()];
  for (let round = 0; round <= rounds; round++) {
    for (const { intent } of cases) {
      const [startedAt, usedBefore] = [monotonicMicros(), process.cpuUsage()];
      search.search({ query: intent });
      const used = process.cpuUsage(usedBefore);
      if (round === 0) continue;
      wall.record(monotonicMicros() - startedAt);
      processor.record(used.user + used.system);
    }
  }
  return { wall: wall.summary(), processor: processor.summary() };
}
