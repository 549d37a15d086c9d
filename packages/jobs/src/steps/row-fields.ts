import { hash } from "node:crypto";
import { isBelow, isJsonNumber, isObject, type JsonNumber } from "@svc/core";
import { canonicalJson, type JsonObject, type JsonValue, type SortKey, valueAt } from "@svc/program";
import { memoryOfText } from "./map-memory.ts";

type Path = readonly (string | number)[];

/** Longer ones are kept as their digests, so that a key takes little however long the values are. */
const keyCharactersMax = 64;

/** The kept fields of an item, as a row; of an item that is no object, `value`. */
export function pickFields(item: JsonValue, keep: readonly string[]): JsonObject {
  const fields: JsonObject = isObject(item) ? item : { value: item };
  return Object.fromEntries(
    keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] as JsonValue]] : [])),
  );
}

/** A text that rows share whose fields have the same values; what is absent is null. */
export function keyOf(row: JsonObject, by: readonly Path[]): string {
  let key = "";
  for (const path of by) {
    const text = textOf(fieldOf(row, path) ?? null);
    key = key === "" ? text : `${key}\n${text}`;
  }
  return shortened(key);
}

/** The key of a row; undefined if its field is neither a text nor a number. Such a row is like no other. */
export function keyOfRow(row: JsonObject, field: string): string | undefined {
  const value = fieldOf(row, [field]);
  return typeof value === "string" || isJsonNumber(value) ? shortened(JSON.stringify(value)) : undefined;
}

/** The same, undefined where one of the values is null or absent: then the row is like no other. */
export function matchOf(row: JsonObject, by: readonly Path[]): string | undefined {
  for (const path of by) if ((fieldOf(row, path) ?? null) === null) return undefined;
  return keyOf(row, by);
}

/** The value of a field of a row. Most fields are one name, and a great many rows have them. */
export function fieldOf(row: JsonObject, path: Path): JsonValue | undefined {
  const [name = ""] = path;
  return path.length === 1 && Object.hasOwn(row, name) ? row[name] : valueAt(row, path);
}

/** JSON, in which no line ends; of an object with its names in order. */
function textOf(value: JsonValue): string {
  return typeof value === "object" && value !== null ? canonicalJson(value) : JSON.stringify(value);
}

/** No JSON begins as a digest does. */
function shortened(text: string): string {
  return text.length <= keyCharactersMax ? text : `#${hash("sha256", text, "base64")}`;
}

/** A value that has an order; undefined for lists and objects, which have none; null for what is absent. */
type SortValue = JsonNumber | boolean | string | undefined | null;
type Present = Exclude<SortValue, null>;

/** Of a longer text the beginning decides: the rows of a large set are not to be held whole. */
const textMax = 256;

/** What a row costs that is sorted, beside the texts that it is sorted by: its number, its place before and after, a value for each key. */
const rowBytes = 32;
const valueBytes = 24;

/** Where two rows are further apart, no block holds both and those between them. */
const farApart = 100;

/** Whether rows, by their numbers in some order, stand anywhere in the job, so that those next to each other share no block. */
export function isScattered(rowNumbers: readonly number[]): boolean {
  let jumps = 0;
  for (let at = 1; at < rowNumbers.length; at++) {
    if (Math.abs((rowNumbers[at] ?? 0) - (rowNumbers[at - 1] ?? 0)) > farApart) jumps++;
  }
  return jumps > rowNumbers.length / 8;
}

/** Rows under sorting: their numbers and what they are ordered by, a list for each key. */
export class OrderedRows {
  readonly #by: readonly SortKey[];
  readonly #numbers: number[] = [];
  readonly #columns: readonly SortValue[][];

  constructor(by: readonly SortKey[]) {
    this.#by = by;
    this.#columns = by.map(() => []);
  }

  /** Adds a row, and says how many bytes are held for it. */
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

  /** The numbers of the rows in their order; what is alike stays as it was. */
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

/** A copy: a part of a text keeps the whole in memory. */
function beginningOf(text: string): string {
  return Buffer.from(text.slice(0, textMax), "utf16le").toString("utf16le");
}

/** Which of two rows, by their places in the columns, stands first: by each key in turn, numbers before texts before the rest, and what is absent last either way. */
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

/** Rows that are sorted at a stretch, and moves of rows between two looks at the time. */
const runRows = 128;
const movesAtOnce = 1_000;

/** Sorts in place, keeping the order of what is alike; it stops again and again so that others get their turn. */
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

/** Merges runs of a width, two and two, from one list into another. */
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
