import type { ToolSearch } from "@svc/tools";
import { Histogram, type LatencySummary } from "../histogram.ts";
import { monotonicMicros } from "../monotonic.ts";

/** What somebody wants, and the tools that are right for it. */
export type SearchCase = { readonly intent: string; readonly accepts: readonly string[] };

/** How well a search finds the accepted tools: the share of cases that have one first, among the first five, and that find nothing. */
export type Recall = {
  readonly at1: number;
  readonly at5: number;
  readonly empty: number;
  readonly misses: readonly Miss[];
};

/** A case whose first tool is not an accepted one. `rank` counts from 1; 0 when none of the accepted is among the first eight. */
export type Miss = { readonly searched: SearchCase; readonly rank: number; readonly found: readonly string[] };

/** Answers the slugs of what fits a query, best first. */
export type Find = (query: string) => readonly string[] | Promise<readonly string[]>;

/** The slugs that a search finds. */
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

/** What searches take: on the clock, and in time of the processor, which other work on the machine makes hardly longer. */
export type SearchTimes = { readonly wall: LatencySummary; readonly processor: LatencySummary };

/** What a search takes, once everything is indexed: every case `rounds` times over, after one that is not counted. */
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
