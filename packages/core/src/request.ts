import { coreFaults } from "./faults.ts";
import { type Id, type IdPrefix, parseId } from "./id.ts";
import { openPageToken, type PageScope, type PageSizeBounds, pageSizeOf, sealPageToken } from "./page-token.ts";
import type { Sealer } from "./seal.ts";

// What every service reads from its requests in the same way: ids, time ranges, pages.

/** The id in a required field. Throws invalid_argument ID_MALFORMED when it is empty or no id of that kind. */
export function requireId<P extends IdPrefix>(prefix: P, field: string, text: string): Id<P> {
  const id = parseId(prefix, text);
  if (id !== undefined) return id;
  throw coreFaults.ID_MALFORMED(field, text, prefix);
}

/** The id in an optional field: undefined when it is empty. Throws as `requireId`. */
export function optionalId<P extends IdPrefix>(prefix: P, field: string, text: string): Id<P> | undefined {
  return text === "" ? undefined : requireId(prefix, field, text);
}

/** A time as requests carry it, which google.protobuf.Timestamp is: seconds since the epoch, and nanoseconds of the next. */
type RequestTime = { readonly seconds: bigint; readonly nanos: number };

/** A range of times, epoch milliseconds; an undefined end is open. */
export type TimeRange = { sinceMs: number | undefined; untilMs: number | undefined };

/** The range of the fields `since` and `until`. Throws invalid_argument TIME_RANGE_INVALID when it ends before it begins, REQUEST_MALFORMED for a time that is none. */
export function timeRange(since: RequestTime | undefined, until: RequestTime | undefined): TimeRange {
  const sinceMs = millisecondsOf("since", since);
  const untilMs = millisecondsOf("until", until);
  if (sinceMs === undefined || untilMs === undefined || sinceMs <= untilMs) return { sinceMs, untilMs };
  throw coreFaults.TIME_RANGE_INVALID(sinceMs, untilMs);
}

const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

/** Rounded up: rows have whole milliseconds, so `>=` and `<` a finer bound mean the same as with the next millisecond. */
function millisecondsOf(field: string, time: RequestTime | undefined): number | undefined {
  if (time === undefined) return undefined;
  const isTime = time.seconds >= firstSecond && time.seconds <= lastSecond && time.nanos >= 0 && time.nanos < 1e9;
  if (isTime) return Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1e6);
  throw coreFaults.TIME_MALFORMED(field);
}

const filterTextMax = 200;

/** A text that a filter looks for. Throws invalid_argument FILTER_TEXT_INVALID when it has more than 200 characters. */
export function checkFilterText(field: string, text: string): string {
  if (text.length <= filterTextMax) return text;
  throw coreFaults.FILTER_TEXT_INVALID(field, text.length, filterTextMax);
}

/** A page asked for: where to go on, and how many rows to read (one more than is shown tells whether another page follows). */
export type Page<P extends IdPrefix> = { after: Id<P> | undefined; size: number; limit: number };

/** Reads a page request of a list in the order of ids. Throws invalid_argument PAGE_SIZE_NEGATIVE and PAGE_TOKEN_INVALID. */
export function pageOf<P extends IdPrefix>(
  sealer: Sealer,
  scope: PageScope,
  request: { pageSize: number; pageToken: string },
  prefix: P,
  bounds?: PageSizeBounds,
): Page<P> {
  const size = pageSizeOf(request.pageSize, bounds);
  const after = request.pageToken === "" ? undefined : parseId(prefix, openPageToken(sealer, scope, request.pageToken));
  return { after, size, limit: size + 1 };
}

/** The rows to show of those read, and the token of the next page: empty when this is the last. */
export function pageRows<Row extends { id: string }>(
  sealer: Sealer,
  scope: PageScope,
  rows: readonly Row[],
  size: number,
): { rows: readonly Row[]; nextPageToken: string } {
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const hasMore = rows.length > size && last !== undefined;
  return { rows: shown, nextPageToken: hasMore ? sealPageToken(sealer, scope, last.id) : "" };
}

/**
 * As `pageRows`, of a list that looked at so many rows at most and found fewer than a page: `walkedTo` is the last of those, from which the
 * next page goes on, or undefined where nothing is below.
 */
export function walkedRows<Row extends { id: string }>(
  sealer: Sealer,
  scope: PageScope,
  { rows, walkedTo }: { readonly rows: readonly Row[]; readonly walkedTo: string | undefined },
  size: number,
): { rows: readonly Row[]; nextPageToken: string } {
  const page = pageRows(sealer, scope, rows, size);
  if (page.nextPageToken !== "" || walkedTo === undefined) return page;
  return { rows: page.rows, nextPageToken: sealPageToken(sealer, scope, walkedTo) };
}
