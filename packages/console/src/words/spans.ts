import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { readTime } from "@svc/core/time";
import { type Range, ranges } from "./ranges.ts";
import { clockWords, type Zone } from "./time.ts";

/** A part of time in an address: a range back from now, or from one time to another, each as RFC 3339 writes it. */
export type Span = { range?: Range | undefined; since?: string | undefined; until?: string | undefined };

/** A span that is none: all that is kept. */
export const noSpan: Span = { range: undefined, since: undefined, until: undefined };

/** A range begins at a whole minute, so that the same list is the same request for that long. */
const stepMs = 60_000;

/** A span as requests have it; times come before a range. `now` in milliseconds. */
export function spanRequest({ range, since, until }: Span, now: number): { since?: Timestamp; until?: Timestamp } {
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

/** Whether a span leaves anything out. */
export function isSpan({ range, since, until }: Span): boolean {
  return range !== undefined || since !== undefined || until !== undefined;
}

/** A span from one time to another as it is read: `03-04 14:05 to 03-04 14:13`. Undefined for a range. */
export function spanWords({ since, until }: Span, zone: Zone): string | undefined {
  if (since === undefined && until === undefined) return undefined;
  const words = (time: string) => {
    const ms = readTime(time);
    return ms === undefined ? time : clockWords(ms, zone).slice(5, 16);
  };
  const from = since === undefined ? "" : words(since);
  return until === undefined ? `since ${from}` : `${from} to ${words(until)}`.trim();
}
