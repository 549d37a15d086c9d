import { isRawJson } from "@svc/core";
import type { CallResult } from "../../outcome.ts";
import { warnOfMissingFields } from "./missing-fields.ts";

/** The requested form of a result. `bytesMax`: maximum size in bytes; 0 means no limit. */
export type ResultShape = { readonly fields: readonly string[]; readonly bytesMax: number };

/**
 * A call's result with only the requested fields and at most the requested size. `json`: JSON text, empty if the call has no result.
 * `warnings`: every warning of the call.
 */
export type ShownResult = { readonly json: string; readonly warnings: readonly string[] };

/**
 * Returns the result of a call in the requested form: only the requested fields, cut to the requested size. For a failed call or a dry run
 * (a call without an id), the result is empty and only the warnings are returned.
 */
export function showResult(
  { callId, result }: { readonly callId: string | undefined; readonly result: CallResult },
  { fields, bytesMax }: ResultShape,
): ShownResult {
  if (result.outcome !== "ok" || callId === undefined) return { json: "", warnings: result.warnings };
  const bytes = bytesMax === 0 ? Number.POSITIVE_INFINITY : bytesMax;
  const { json, warning } = fitBytes(selectFields(result.value, fields), bytes);
  const unmet = warnOfMissingFields(result.value, fields);
  return { json, warnings: [...result.warnings, ...unmet, ...(warning === undefined ? [] : [warning])] };
}

/** A result as JSON text, and a warning if part of it is missing. */
export type ShapedResult = { readonly json: string; readonly warning: string | undefined };

/**
 * Returns only the values at the given dotted paths. At a list, a path continues in every item. Paths without a match are left out. A null
 * on a path stays null, and lists keep their length.
 */
export function selectFields(value: unknown, fields: readonly string[]): unknown {
  if (fields.length === 0) return value;
  return pick(
    value,
    fields.map((field) => field.split(".")),
  );
}

function pick(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (value === null || paths.some((path) => path.length === 0)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => pick(item, paths));
  if (typeof value !== "object" || isRawJson(value)) return undefined;
  const groups = [...Map.groupBy(paths, ([first]) => first ?? "")].filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(
    groups.map(([name, group]) => {
      const rest = group.map((path) => path.slice(1));
      return [name, pick((value as Record<string, unknown>)[name], rest)];
    }),
  );
}

/** Maximum sizes to which a value is cut. `items`: items per list. `characters`: characters per text. `entries`: entries per object. */
type Extent = { readonly items: number; readonly characters: number; readonly entries: number };

const whole: Extent = {
  items: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
  entries: Number.POSITIVE_INFINITY,
};

/**
 * Returns a result as JSON of at most `bytesMax` bytes (at least 2). The JSON stays valid. A result that is too long is shortened in the
 * following order, until it fits. First, long lists are cut to a common length of at least one item. Then long texts are cut, then lists
 * are cut to no item, and last, fields are removed from objects.
 */
export function fitBytes(value: unknown, bytesMax: number): ShapedResult {
  const json = JSON.stringify(value ?? null);
  const size = Buffer.byteLength(json);
  if (size <= bytesMax) return { json, warning: undefined };
  const shortened = shorten(value, { size, bytesMax });
  const kept = Buffer.byteLength(shortened);
  return {
    json: shortened,
    warning: `truncated: ${kept} of ${size} bytes; name what you need in fields to get the rest`,
  };
}

function write(value: unknown, extent: Extent): string {
  return JSON.stringify(cut(value ?? null, extent));
}

function shorten(value: unknown, { size, bytesMax }: { size: number; bytesMax: number }): string {
  const attempt = (low: number, high: number, extentOf: (length: number) => Partial<Extent>) =>
    longest({ low, high, bytesMax }, (length) => write(value, { ...whole, ...extentOf(length) }));
  const list = longestList(value);
  return (
    attempt(1, list, (items) => ({ items })) ??
    attempt(0, size, (characters) => ({ items: 1, characters })) ??
    attempt(0, size, (characters) => ({ items: 0, characters })) ??
    attempt(0, size, (entries) => ({ items: 0, characters: 0, entries })) ??
    "null"
  );
}

/**
 * If a tool result must fit into fewer bytes than this, svc shortens it as little as possible. For a higher limit, svc may shorten it by up
 * to a sixteenth more.
 */
const soughtMax = 32_768;

/**
 * `candidate` makes a text for each length from `low` to `high`. Returns the longest text that has at most `bytesMax` bytes. Returns
 * undefined if even the shortest text is too long.
 */
function longest(
  { low, high, bytesMax }: { low: number; high: number; bytesMax: number },
  candidate: (length: number) => string,
): string | undefined {
  if (low > high) return undefined;
  const fits = (text: string) => Buffer.byteLength(text) <= bytesMax;
  // For large results, a text within a sixteenth of the maximum is enough.
  const enough = bytesMax < soughtMax ? bytesMax : bytesMax - bytesMax / 16;
  let best = candidate(low);
  if (!fits(best)) return undefined;
  let [from, to] = [low + 1, high];
  // The step doubles until a text does not fit, so that no text becomes much longer than the result. Then the range is halved.
  for (let step = 1, isDoubling = true; from <= to; ) {
    const length = isDoubling ? Math.min(from + step - 1, to) : (from + to) >>> 1;
    const text = candidate(length);
    if (fits(text)) {
      best = text;
      if (Buffer.byteLength(text) >= enough) return best;
      from = length + 1;
      step *= 2;
    } else {
      to = length - 1;
      isDoubling = false;
    }
  }
  return best;
}

function longestList(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  const own = Array.isArray(value) ? value.length : 0;
  return children.reduce((most: number, child) => Math.max(most, longestList(child)), own);
}

function cut(value: unknown, extent: Extent): unknown {
  const { items, characters, entries } = extent;
  if (typeof value === "string") {
    return value.length > characters ? value.slice(0, characters).toWellFormed() : value;
  }
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  if (Array.isArray(value)) return value.slice(0, items).map((item: unknown) => cut(item, extent));
  // Only the names are read first, because reading all values of a large object again for each attempt would be slow.
  const kept = Object.keys(value).slice(0, entries);
  const object = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(kept.map((key) => [key, cut(object[key], extent)]));
}
