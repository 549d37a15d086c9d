import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { readTime } from "@svc/core/time";
import { shownZone } from "../shell/preferences.ts";
import { clockWords, dayStart, type Zone } from "./time.ts";

/** The time ranges of lists and charts. Each ends now; the value is its length in milliseconds. */
export const ranges = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000 } as const;

/** Name of a time range (such as `24h`) as it is written in the address of a page. */
type Range = keyof typeof ranges;

/** The names of whole days that a list may show: the present day and the day before it, in the time zone of the display. */
export const dayNames = ["today", "yesterday"] as const;

/** The names of the ranges. The shortest range is first. */
export const rangeNames = Object.keys(ranges) as readonly Range[];

const words: Record<Range | (typeof dayNames)[number], string> = {
  ...{ "1h": "last hour", "24h": "last 24 h", "7d": "last 7 d", "30d": "last 30 d" },
  ...{ today: "today", yesterday: "yesterday" },
};

/** Returns a time range in words, such as `last 24 h`. */
export function rangeWords(range: Range | (typeof dayNames)[number]): string {
  return words[range];
}

const short: Record<Range, string> = { "1h": "1 h", "24h": "24 h", "7d": "7 d", "30d": "30 d" };

/** Returns a short name of a range, for the label of a button. */
export function shortRangeWords(range: Range): string {
  return short[range];
}

/**
 * A time span in a page's address. `range`: a span that ends now, or a whole day such as `today`. `since` and `until`: start and end in RFC
 * 3339.
 */
export type TimeSpan = {
  range?: Range | (typeof dayNames)[number] | undefined;
  since?: string | undefined;
  until?: string | undefined;
};

/** The time span without limits. With it, a list shows all rows that svc still stores. */
export const noSpan: TimeSpan = { range: undefined, since: undefined, until: undefined };

/** One minute, in milliseconds. A range starts at a full minute, so that the request for the same list does not change for a minute. */
const stepMs = 60_000;

/**
 * Returns the start and end of a time span, as fields of a request. If the span contains both a range (such as the last day) and exact
 * times, the exact times are used. `now`: in epoch milliseconds.
 */
export function spanRequest({ range, since, until }: TimeSpan, now: number): { since?: Timestamp; until?: Timestamp } {
  if (since !== undefined || until !== undefined) {
    const [sinceMs, untilMs] = [readTime(since ?? ""), readTime(until ?? "")];
    return {
      ...(sinceMs !== undefined && { since: timestampFromMs(sinceMs) }),
      ...(untilMs !== undefined && { until: timestampFromMs(untilMs) }),
    };
  }
  if (range === undefined) return {};
  if (range === "today") return { since: timestampFromMs(dayStart(now, shownZone())) };
  if (range === "yesterday") {
    const [since, until] = [dayStart(now, shownZone(), 1), dayStart(now, shownZone())];
    return { since: timestampFromMs(since), until: timestampFromMs(until) };
  }
  return { since: timestampFromMs(Math.floor((now - ranges[range]) / stepMs) * stepMs) };
}

/** True if a list shows only a part of the time: the span has a range (for example `24h`), a start or an end. */
export function isSpan({ range, since, until }: TimeSpan): boolean {
  return range !== undefined || since !== undefined || until !== undefined;
}

/**
 * Returns a span between two fixed times in words (for example `03-04 14:05 to 03-04 14:13`). Returns undefined if the span has no fixed
 * times, for example for "the last 24 hours".
 */
export function spanWords({ since, until }: TimeSpan, zone: Zone): string | undefined {
  if (since === undefined && until === undefined) return undefined;
  const words = (time: string) => {
    const ms = readTime(time);
    return ms === undefined ? time : clockWords(ms, zone).slice(5, 16);
  };
  const from = since === undefined ? "" : words(since);
  return until === undefined ? `since ${from}` : `${from} to ${words(until)}`.trim();
}
