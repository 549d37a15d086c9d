import { isoTime, readTime } from "@svc/core/time";
import { oneOfParam, type SearchOf, searchReader, timeParam } from "../../shell/search-params.ts";
import { rangeNames, ranges } from "../../words/spans.ts";

const params = {
  /** How far back charts go; 24 hours where it is not there. */
  range: oneOfParam(rangeNames),
  /** A part of it that was zoomed to, both or none. */
  since: timeParam,
  until: timeParam,
  /** Shows the numbers of charts as tables. */
  table: oneOfParam(["on"]),
};

/** The search parameters of the overview. */
export type OverviewSearch = SearchOf<typeof params>;

/** Reads the search parameters of the overview. */
export const readOverviewSearch: (raw: Record<string, unknown>) => OverviewSearch = searchReader(params);

/** Ranges end at a whole minute, so that the same charts are the same request for that long. */
const minuteMs = 60_000;

/** From when to when the charts of an address go, in milliseconds; `now` too. */
export function shownRange(
  { range = "24h", since, until }: OverviewSearch,
  now: number,
): { sinceMs: number; untilMs: number } {
  const [sinceMs, untilMs] = [readTime(since ?? ""), readTime(until ?? "")];
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs < untilMs) return { sinceMs, untilMs };
  const end = (Math.floor(now / minuteMs) + 1) * minuteMs;
  return { sinceMs: end - ranges[range], untilMs: end };
}

/** A range that somebody drew, as it stands in the address: whole minutes, at least five, and not beyond now. */
export function zoomed(sinceMs: number, untilMs: number, now: number): { since: string; until: string } {
  const until = Math.ceil(Math.min(untilMs, now) / minuteMs) * minuteMs;
  const since = Math.min(Math.floor(sinceMs / minuteMs) * minuteMs, until - 5 * minuteMs);
  return { since: isoTime(since), until: isoTime(until) };
}
