import { isoTime, readTime } from "@svc/core/time";
import { oneOfParam, type SearchOf, searchReader, timeParam } from "../../shell/search-params.ts";
import { rangeNames, ranges } from "../../words/spans.ts";

const params = {
  /** Time range of the charts; 24 hours by default. */
  range: oneOfParam(rangeNames),
  /** The part of the range that the user zoomed to; both ends are set, or neither. */
  since: timeParam,
  until: timeParam,
  /** Shows the charts' numbers as tables. */
  table: oneOfParam(["on"]),
};

/** The search parameters of the overview. */
export type OverviewSearch = SearchOf<typeof params>;

/** Reads the search parameters of the overview. */
export const readOverviewSearch: (raw: Record<string, unknown>) => OverviewSearch = searchReader(params);

/** Ranges end at a whole minute, so that the request for the same charts stays the same for a minute. */
const minuteMs = 60_000;

/** Returns the start and end of the charts of an address, in milliseconds; so is `now`. */
export function shownRange(
  { range = "24h", since, until }: OverviewSearch,
  now: number,
): { sinceMs: number; untilMs: number } {
  const [sinceMs, untilMs] = [readTime(since ?? ""), readTime(until ?? "")];
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs < untilMs) return { sinceMs, untilMs };
  const end = (Math.floor(now / minuteMs) + 1) * minuteMs;
  return { sinceMs: end - ranges[range], untilMs: end };
}

/** Returns a range that the user drew as search parameters: whole minutes, at least five, and not in the future. */
export function zoomed(sinceMs: number, untilMs: number, now: number): { since: string; until: string } {
  const until = Math.ceil(Math.min(untilMs, now) / minuteMs) * minuteMs;
  const since = Math.min(Math.floor(sinceMs / minuteMs) * minuteMs, until - 5 * minuteMs);
  return { since: isoTime(since), until: isoTime(until) };
}
