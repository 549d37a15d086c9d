import { hash } from "node:crypto";
import { isBelow, isJsonNumber, isObject, type JsonNumber } from "@svc/core";
import { canonicalJson, type JsonObject, type JsonValue, type SortKey, valueAt } from "@svc/program";
import { memoryOfText } from "./map-memory.ts";

type Path = readonly (string | number)[];

/**
 * Maximum characters of a row's key (the text by which rows are recognized as equal) that is kept as text. A longer key is kept as a
 * digest, so that each key needs little memory.
 */
const keyCharactersMax = 64;

/**
 * Returns a row made of the fields in `keep` of a list item, which an app returned. If the item is not an object, the row has the item as
 * its only field, `value`.
 */
export function pickFields(item: JsonValue, keep: readonly string[]): JsonObject {
  const fields: JsonObject = isObject(item) ? item : { value: item };
  return Object.fromEntries(
    keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] as JsonValue]] : [])),
  );
}

/** Returns a text that is the same for all rows with the same values in the fields `by`. An absent value counts as null. */
export function keyOf(row: JsonObject, by: readonly Path[]): string {
  let key = "";
  for (const path of by) {
    const text = textOf(fieldOf(row, path) ?? null);
    key = key === "" ? text : `${key}\n${text}`;
  }
  return shortened(key);
}

/**
 * Returns the key of a row, or undefined if the row's field is neither a text nor a number. A row without a key never equals another row.
 */
export function keyOfRow(row: JsonObject, field: string): string | undefined {
  const value = fieldOf(row, [field]);
  return typeof value === "string" || isJsonNumber(value) ? shortened(JSON.stringify(value)) : undefined;
}

/**
 * Returns a text that is the same for all rows with the same values in the fields `by`. Returns undefined if one of these values is null or
 * absent, because such a row never matches.
 */
export function matchOf(row: JsonObject, by: readonly Path[]): string | undefined {
  for (const path of by) if ((fieldOf(row, path) ?? null) === null) return undefined;
  return keyOf(row, by);
}

/**
 * Returns the value of a field of a row. It has a fast path for single names, because most fields are single names and there are very many
 * rows.
 */
export function fieldOf(row: JsonObject, path: Path): JsonValue | undefined {
  const [name = ""] = path;
  return path.length === 1 && Object.hasOwn(row, name) ? row[name] : valueAt(row, path);
}

/** Returns a value as JSON text without line ends. The names of an object are in sorted order. */
function textOf(value: JsonValue): string {
  return typeof value === "object" && value !== null ? canonicalJson(value) : JSON.stringify(value);
}

/**
 * Returns the key of a row in the form in which svc keeps it. A long key becomes a digest. JSON texts never begin like a digest, so the two
 * forms cannot be confused.
 */
function shortened(text: string): string {
  return text.length <= keyCharactersMax ? text : `#${hash("sha256", text, "base64")}`;
}

/** A value that rows can be sorted by. Undefined for lists and objects, which cannot be sorted. Null for an absent value. */
type SortValue = JsonNumber | boolean | string | undefined | null;
type Present = Exclude<SortValue, null>;

/**
 * Maximum number of characters that a text is compared by when rows are sorted. The rest of each text is dropped, so that the sort values
 * of many rows fit into memory.
 */
const textMax = 256;

/**
 * Memory of a row that is being sorted, in bytes: for its number and for its positions before and after sorting. The values of its sort
 * keys are counted separately.
 */
const rowBytes = 32;
const valueBytes = 24;

/** Difference of two row numbers above which the rows cannot be in the same storage block (a group of rows that are encrypted together). */
const farApart = 100;

/**
 * True if many rows that follow each other in the list are in different storage blocks. Reading them in this order then decrypts many
 * blocks.
 */
export function isScattered(rowNumbers: readonly number[]): boolean {
  let jumps = 0;
  for (let at = 1; at < rowNumbers.length; at++) {
    if (Math.abs((rowNumbers[at] ?? 0) - (rowNumbers[at - 1] ?? 0)) > farApart) jumps++;
  }
  return jumps > rowNumbers.length / 8;
}

/** Collects rows and sorts them by some fields. For each row, only its number and its values of these fields are kept in memory. */
export class OrderedRows {
  readonly #by: readonly SortKey[];
  readonly #numbers: number[] = [];
  readonly #columns: readonly SortValue[][];

  constructor(by: readonly SortKey[]) {
    this.#by = by;
    this.#columns = by.map(() => []);
  }

  /** Adds a row to the columns that are kept in memory for sorting. Returns the memory that is held for the row, in bytes. */
  add(rowNumber: number, row: JsonObject): number {
    this.#numbers.push(rowNumber);
    let bytes = rowBytes;
    for (const [index, { field }] of this.#by.entries()) {
      const value = sortValue(valueAt(row, field));
      this.#columns[index]?.push(value);
      bytes += typeof value === "string" ? memoryOfText(value) : valueBytes;
    }
    return bytes;
  }

  /** Returns the row numbers in sorted order. Equal rows keep the order in which they were added. */
  *numbersInOrder(): Generator<undefined, number[]> {
    const places = this.#numbers.map((_number, place) => place);
    const sorted = yield* sortInTurns(places, compareBy(this.#by, this.#columns));
    return sorted.map((place) => this.#numbers[place] ?? 0);
  }
}

function sortValue(value: JsonValue | undefined): SortValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value.length > textMax ? beginningOf(value) : value;
  return typeof value === "boolean" || isJsonNumber(value) ? value : undefined;
}

/** Returns a copy of a text's beginning. A plain substring would keep the whole text in memory. */
function beginningOf(text: string): string {
  return Buffer.from(text.slice(0, textMax), "utf16le").toString("utf16le");
}

/**
 * Returns a function that compares two rows key by key. Its two arguments are the positions of the rows in the columns. Numbers come before
 * texts, and texts before values of any other type. Absent values come last in both directions.
 */
function compareBy(by: readonly SortKey[], columns: readonly SortValue[][]): (a: number, b: number) => number {
  const keys = by.map(({ isDescending }, index) => ({ isDescending, column: columns[index] ?? [] }));
  return (a, b) => {
    for (const { isDescending, column } of keys) {
      const left = column[a];
      const right = column[b];
      if (left === null || right === null) {
        if (left === right) continue;
        return left === null ? 1 : -1;
      }
      const order = compare(left, right);
      if (order !== 0) return isDescending ? -order : order;
    }
    return 0;
  };
}

function compare(left: Present, right: Present): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  const order = rankOf(left) - rankOf(right);
  if (order !== 0) return order;
  if (isJsonNumber(left) && isJsonNumber(right)) return isBelow(left, right) ? -1 : isBelow(right, left) ? 1 : 0;
  return Number(left === true) - Number(right === true);
}

function rankOf(value: Present): number {
  if (value === undefined) return 3;
  if (typeof value === "boolean") return 2;
  return typeof value === "string" ? 1 : 0;
}

/** Number of rows that are sorted at once, without a pause. */
const runRows = 128;
/** Number of rows that are merged between two pauses. */
const movesAtOnce = 1_000;

/** Sorts a list in place; equal items keep their order. It pauses repeatedly, so that other work can run. */
function* sortInTurns<T>(items: T[], compareItems: (a: T, b: T) => number): Generator<undefined, T[]> {
  for (let from = 0; from < items.length; from += runRows) {
    const run = items.slice(from, from + runRows).sort(compareItems);
    for (const [index, item] of run.entries()) items[from + index] = item;
    yield;
  }
  let source = items;
  let target = new Array<T>(items.length);
  for (let width = runRows; width < items.length; width *= 2) {
    yield* mergeRuns(source, target, width, compareItems);
    [source, target] = [target, source];
  }
  return source;
}

/** Merges each pair of neighboring sorted runs (parts of `width` items) from one list into another list. */
function* mergeRuns<T>(
  source: T[],
  target: T[],
  width: number,
  compareItems: (a: T, b: T) => number,
): Generator<undefined> {
  let moves = 0;
  for (let from = 0; from < source.length; from += 2 * width) {
    const middle = Math.min(from + width, source.length);
    const end = Math.min(middle + width, source.length);
    let left = from;
    let right = middle;
    for (let to = from; to < end; to++) {
      const takesLeft = left < middle && (right >= end || compareItems(source[left] as T, source[right] as T) <= 0);
      target[to] = source[takesLeft ? left++ : right++] as T;
      if (++moves % movesAtOnce === 0) yield;
    }
  }
}
