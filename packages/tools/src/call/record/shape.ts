import { isRawJson } from "@svc/core";
import type { CallResult } from "../../outcome.ts";
import { warnOfMissingFields } from "./missing-fields.ts";

/** How a caller wants its result. `bytesMax` 0: as it is. */
export type ResultShape = { readonly fields: readonly string[]; readonly bytesMax: number };

/** The result as its caller wants it, as JSON text that is empty if there is none; and every warning of the call. */
export type ShownResult = { readonly json: string; readonly warnings: readonly string[] };

/** Returns the result of a call, cut to what its caller asked for. A call without an id was a dry run. */
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

/** A result as JSON text, and a warning when less than all of it is there. */
export type ShapedResult = { readonly json: string; readonly warning: string | undefined };

/**
 * Keeps the values at dotted paths, through every list on the way. What a path does not meet is absent; null on the way stays, as
 * does the length of lists.
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

/** How much of a value is kept: items of every list, characters of every text, entries of every object. */
type Extent = { readonly items: number; readonly characters: number; readonly entries: number };

const whole: Extent = {
  items: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
  entries: Number.POSITIVE_INFINITY,
};

/**
 * Writes a result as JSON of at most `bytesMax` bytes, at least 2. What is too long loses the ends of its lists, all of them down
 * to the same length and to one item at least; then the ends of its texts; then its lists; then the ends of its objects. What is
 * left is valid JSON of the same form.
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

/** Up to so many bytes the very best is sought. */
const soughtMax = 32_768;

/**
 * The candidate of the greatest length from `low` to `high` that fits; undefined when not even the shortest does. The steps double
 * until one does not fit, then halve: no candidate is much longer than the best, however long the value is. Of many KiB the last
 * sixteenth is not sought.
 */
function longest(
  { low, high, bytesMax }: { low: number; high: number; bytesMax: number },
  candidate: (length: number) => string,
): string | undefined {
  if (low > high) return undefined;
  const fits = (text: string) => Buffer.byteLength(text) <= bytesMax;
  const enough = bytesMax < soughtMax ? bytesMax : bytesMax - bytesMax / 16;
  let best = candidate(low);
  if (!fits(best)) return undefined;
  let [from, to] = [low + 1, high];
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
  // Names alone: of a large object a few entries are tried again and again.
  const kept = Object.keys(value).slice(0, entries);
  const object = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(kept.map((key) => [key, cut(object[key], extent)]));
}
