import { coreFaults } from "../faults/faults.ts";
import { type Id, type IdPrefix, parseId } from "../ids/id.ts";

// The functions of this file read request fields that all services have in common: ids, time ranges and texts.

/**
 * Returns the id in a required request field. `prefix`: the kind of id that the field must have. Throws invalid_argument ID_MALFORMED if
 * the field is empty, or if its text is not an id of this kind.
 */
export function requireId<P extends IdPrefix>(prefix: P, field: string, text: string): Id<P> {
  const id = parseId(prefix, text);
  if (id !== undefined) return id;
  throw coreFaults.ID_MALFORMED(field, text, prefix);
}

/**
 * Returns the id in an optional request field; undefined if the field is empty. `prefix`: the kind of id that the field must have. Throws
 * invalid_argument ID_MALFORMED if the text is not an id of this kind.
 */
export function optionalId<P extends IdPrefix>(prefix: P, field: string, text: string): Id<P> | undefined {
  return text === "" ? undefined : requireId(prefix, field, text);
}

/** A time in a request, equal to google.protobuf.Timestamp: seconds since the epoch, and nanoseconds. */
type RequestTime = { readonly seconds: bigint; readonly nanos: number };

/** A time range in epoch milliseconds. If an end is undefined, the range is not limited at that end. */
export type TimeRange = { sinceMs: number | undefined; untilMs: number | undefined };

/**
 * Returns the range of the request fields `since` and `until`. Throws invalid_argument TIME_RANGE_INVALID if `until` is before `since`, and
 * REQUEST_MALFORMED if a time is invalid.
 */
export function timeRange(since: RequestTime | undefined, until: RequestTime | undefined): TimeRange {
  const sinceMs = millisecondsOf("since", since);
  const untilMs = millisecondsOf("until", until);
  if (sinceMs === undefined || untilMs === undefined || sinceMs <= untilMs) return { sinceMs, untilMs };
  throw coreFaults.TIME_RANGE_INVALID(sinceMs, untilMs);
}

const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

/**
 * Returns a time in epoch milliseconds, rounded up. Times in rows have whole milliseconds, so rounding up does not change which rows match.
 */
function millisecondsOf(field: string, time: RequestTime | undefined): number | undefined {
  if (time === undefined) return undefined;
  const isTime = time.seconds >= firstSecond && time.seconds <= lastSecond && time.nanos >= 0 && time.nanos < 1e9;
  if (isTime) return Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1e6);
  throw coreFaults.TIME_MALFORMED(field);
}

const filterTextMax = 200;

/** Returns the text of a filter. Throws invalid_argument FILTER_TEXT_INVALID if the text has more than 200 characters. */
export function checkFilterText(field: string, text: string): string {
  if (text.length <= filterTextMax) return text;
  throw coreFaults.FILTER_TEXT_INVALID(field, text.length, filterTextMax);
}
