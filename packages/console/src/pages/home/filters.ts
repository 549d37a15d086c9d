import { isoTime, readTime } from "@svc/core/time";
import { oneOfParam, type SearchOf, searchReader, timeParam } from "../../shell/search-params.ts";
import { rangeNames, ranges } from "../../words/spans.ts";

const params = {
  /** Time range of the charts. If unset, `rangeSince` decides. */
  range: oneOfParam(rangeNames),
  /** Start of the part of the charts' time range to which the user zoomed. `until` is its end. Either both are set, or neither is. */
  since: timeParam,
  until: timeParam,
  /** The face of the page: the first steps, or the activity. If unset, the first steps of a project that has used nothing yet. */
  view: oneOfParam(["start", "activity"]),
  /** `on` shows the numbers of the charts as tables; unset shows drawn charts. */
  table: oneOfParam(["on"]),
};

/** The search parameters of Home. */
export type HomeSearch = SearchOf<typeof params>;

/** Reads the search parameters of Home. */
export const readHomeSearch: (raw: Record<string, unknown>) => HomeSearch = searchReader(params);

/**
 * One minute in milliseconds. The end of a range is rounded to a whole minute, so that within one minute the request for the same charts
 * stays the same.
 */
const minuteMs = 60_000;

/** Returns the start and the end of the charts' time range, in milliseconds. `now`: current time in milliseconds. */
export function shownRange(
  { range = "24h", since, until }: HomeSearch,
  now: number,
): { sinceMs: number; untilMs: number } {
  const [sinceMs, untilMs] = [readTime(since ?? ""), readTime(until ?? "")];
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs < untilMs) return { sinceMs, untilMs };
  const end = (Math.floor(now / minuteMs) + 1) * minuteMs;
  return { sinceMs: end - ranges[range], untilMs: end };
}

/** Returns the default range of the charts: the shortest of an hour, a day and a week that contains the project's first event. */
export function rangeSince(firstEventMs: number | undefined, now: number): "1h" | "24h" | "7d" {
  const ageMs = firstEventMs === undefined ? ranges["24h"] : now - firstEventMs;
  if (ageMs <= ranges["1h"]) return "1h";
  return ageMs <= ranges["24h"] ? "24h" : "7d";
}

/**
 * Returns the search parameters for a range that the user drew. The range has whole minutes, is at least five minutes long, and does not
 * end in the future.
 */
export function zoomed(sinceMs: number, untilMs: number, now: number): { since: string; until: string } {
  const until = Math.ceil(Math.min(untilMs, now) / minuteMs) * minuteMs;
  const since = Math.min(Math.floor(sinceMs / minuteMs) * minuteMs, until - 5 * minuteMs);
  return { since: isoTime(since), until: isoTime(until) };
}
