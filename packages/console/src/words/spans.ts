import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { readTime } from "@svc/core/time";
import { clockWords, type Zone } from "./time.ts";

/** Time ranges for lists and charts, in milliseconds back from now. */
export const ranges = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000 } as const;

/** Name of a range, as in addresses. */
type Range = keyof typeof ranges;

/** The names of the ranges, the shortest first. */
export const rangeNames = Object.keys(ranges) as readonly Range[];

const words: Record<Range, string> = { "1h": "last hour", "24h": "last 24 h", "7d": "last 7 d", "30d": "last 30 d" };

/** Returns a range in words. */
export function rangeWords(range: Range): string {
  return words[range];
}

const short: Record<Range, string> = { "1h": "1 h", "24h": "24 h", "7d": "7 d", "30d": "30 d" };

/** Returns a range as the short label of a button. */
export function shortRangeWords(range: Range): string {
  return short[range];
}

/** A time range in an address: a range back from now, or two times in RFC 3339. */
export type TimeSpan = { range?: Range | undefined; since?: string | undefined; until?: string | undefined };

/** The span without limits: all that is kept. */
export const noSpan: TimeSpan = { range: undefined, since: undefined, until: undefined };

/** A range starts at a whole minute, so that the request for the same list stays the same for a minute. */
const stepMs = 60_000;

/** Returns a span for a request; two times take precedence over a range. `now` in milliseconds. */
export function spanRequest({ range, since, until }: TimeSpan, now: number): { since?: Timestamp; until?: Timestamp } {
  if (since !== undefined || until !== undefined) {
    const [sinceMs, untilMs] = [readTime(since ?? ""), readTime(until ?? "")];
    return {
      ...(sinceMs !== undefined && { since: timestampFromMs(sinceMs) }),
      ...(untilMs !== undefined && { until: timestampFromMs(untilMs) }),
    };
  }
  if (range === undefined) return {};
  return { since: timestampFromMs(Math.floor((now - ranges[range]) / stepMs) * stepMs) };
}

/** True if a span leaves anything out. */
export function isSpan({ range, since, until }: TimeSpan): boolean {
  return range !== undefined || since !== undefined || until !== undefined;
}

/** Returns a span between two times in words: `03-04 14:05 to 03-04 14:13`. Undefined for a range. */
export function spanWords({ since, until }: TimeSpan, zone: Zone): string | undefined {
  if (since === undefined && until === undefined) return undefined;
  const words = (time: string) => {
    const ms = readTime(time);
    return ms === undefined ? time : clockWords(ms, zone).slice(5, 16);
  };
  const from = since === undefined ? "" : words(since);
  return until === undefined ? `since ${from}` : `${from} to ${words(until)}`.trim();
}
