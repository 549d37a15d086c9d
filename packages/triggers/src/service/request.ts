import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Catalog } from "@svc/catalog";
import {
  type Id,
  type IdPrefix,
  isoTime,
  openPageToken,
  type PageScope,
  type PageSizeBounds,
  pageSizeOf,
  parseId,
  type Sealer,
  sealPageToken,
} from "@svc/core";
import {
  idMalformed,
  timeRangeInvalid,
  timestampInvalid,
  toolkitNotFound,
  triggerNotFound,
  triggerWithoutToolkit,
} from "../errors.ts";

/** The id in a required field; ID_MALFORMED when it is none. */
export function requireId<P extends IdPrefix>(prefix: P, field: string, text: string): Id<P> {
  const id = parseId(prefix, text);
  if (id === undefined) throw idMalformed(field, text, prefix);
  return id;
}

/** The id in an optional field; undefined when it is empty, ID_MALFORMED when it is no id. */
export function optionalId<P extends IdPrefix>(prefix: P, field: string, text: string): Id<P> | undefined {
  return text === "" ? undefined : requireId(prefix, field, text);
}

/** Catalog-wide slug of a trigger named in either form; empty stays empty. TRIGGER_WITHOUT_TOOLKIT for a bare name alone. */
export function triggerSlugOf(toolkitSlug: string, triggerSlug: string): string {
  if (triggerSlug === "" || triggerSlug.includes(".")) return triggerSlug;
  if (toolkitSlug === "") throw triggerWithoutToolkit(triggerSlug);
  return `${toolkitSlug}.${triggerSlug}`;
}

/** The filter of a subscription, checked against the catalog. */
export function subscribedSlugs(catalog: Catalog, toolkitSlug: string, triggerSlug: string) {
  if (toolkitSlug === "") {
    if (triggerSlug !== "") throw triggerWithoutToolkit(triggerSlug);
    return { toolkitSlug: "", triggerSlug: "" };
  }
  const toolkit = catalog.toolkits.get(toolkitSlug);
  if (toolkit === undefined) throw toolkitNotFound(toolkitSlug);
  const slug = triggerSlugOf(toolkitSlug, triggerSlug);
  const isKnown = slug === "" || toolkit.triggers.some((trigger) => trigger.slug === slug);
  if (!isKnown) throw triggerNotFound(toolkitSlug, triggerSlug);
  return { toolkitSlug, triggerSlug: slug };
}

/** A range of times in epoch milliseconds; TIME_RANGE_INVALID when it ends before it begins. */
export function timeRange(since: Timestamp | undefined, until: Timestamp | undefined) {
  const sinceMs = millisecondsOf("since", since);
  const untilMs = millisecondsOf("until", until);
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    throw timeRangeInvalid(isoTime(sinceMs), isoTime(untilMs));
  }
  return { sinceMs, untilMs };
}

const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

/** Rounded up: rows have whole milliseconds, so `>=` and `<` a finer bound mean the same as with the next millisecond. */
function millisecondsOf(field: string, time: Timestamp | undefined): number | undefined {
  if (time === undefined) return undefined;
  const isInRange = time.seconds >= firstSecond && time.seconds <= lastSecond && time.nanos >= 0 && time.nanos < 1e9;
  if (!isInRange) throw timestampInvalid(field);
  return Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1e6);
}

/** A page asked for: where to go on and how many rows to read (one more than is returned, to know whether more follow). */
export type Page<P extends IdPrefix> = { after: Id<P> | undefined; size: number; limit: number };

/** Reads a page request; PAGE_SIZE_NEGATIVE and PAGE_TOKEN_INVALID. */
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

/** The rows of a page and the token of the next; empty when this is the last. */
export function pageRows<Row extends { id: string }>(
  sealer: Sealer,
  scope: PageScope,
  rows: readonly Row[],
  size: number,
): { rows: readonly Row[]; nextPageToken: string } {
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const isLast = rows.length <= size || last === undefined;
  return { rows: shown, nextPageToken: isLast ? "" : sealPageToken(sealer, scope, last.id) };
}

/** Lists where a page size of 0 means all that anyone has. */
export const largePages: PageSizeBounds = { fallback: 1_000, max: 1_000 };
