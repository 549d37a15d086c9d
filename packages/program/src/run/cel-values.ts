import {
  type CelInput,
  type CelUint,
  type CelValue,
  celEnv,
  celList,
  celMap,
  celType,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  parse,
  plan,
} from "@bufbuild/cel";
import { isRawJson, nearestDouble, type RawNumber, rawJson, replaceRawNumbers } from "@svc/core/raw-json";
import type { JsonObject, JsonValue } from "../json.ts";
import { longNumberOf, noteLongNumbers } from "./long-numbers.ts";

/** The values that an expression can use, in the form of the expression evaluator. The keys are the names in the expression. */
export type CelValues = Readonly<Record<string, CelInput>>;

const known = new WeakMap<object, CelInput>();
/**
 * Objects that contain a number with more digits than the expression evaluator (CEL) can hold. For these objects, long-numbers.ts keeps the
 * digits.
 */
const long = new WeakSet<object>();

/**
 * Returns values in the form that the expression evaluator needs. Objects become maps, because the evaluator would otherwise convert an
 * object each time an expression names it. The given values must not change afterwards.
 */
export function celValues(given: Readonly<Record<string, JsonValue | undefined>>): CelValues {
  const values: Record<string, CelInput> = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) values[name] = celValueOf(value);
  return values;
}

function isLong(value: unknown): boolean {
  return typeof value === "object" && value !== null && long.has(value);
}

/**
 * Returns for each row the values that an expression can use: the shared `values`, and the row as `row`. A null row gets only the shared
 * values. Stops after the first row at which `isOver` says that the time is used up.
 */
export function celRows(
  values: CelValues,
  given: readonly unknown[],
  rows: readonly (JsonObject | null)[],
  isOver: () => boolean,
): readonly CelValues[] {
  const made: CelValues[] = [];
  for (const row of rows) {
    const own = row === null ? values : { ...values, row: celValueOf(row) };
    const all = row === null ? given : [...given, row];
    if (all.some(isLong)) noteLongNumbers(own, all);
    made.push(own);
    if (isOver()) break;
  }
  return made;
}

function celValueOf(value: JsonValue): CelInput {
  if (isRawJson(value)) {
    long.add(value);
    return celNumber(value);
  }
  if (typeof value !== "object" || value === null) return value;
  const made = known.get(value);
  if (made !== undefined) return made;
  const own = withCelNumbers(value);
  if (own !== value) long.add(value);
  const whole = Array.isArray(own)
    ? celList(own as CelInput[])
    : celMap(new Map(Object.entries(own)) as ReadonlyMap<string, CelInput>);
  known.set(value, whole);
  return whole;
}

/**
 * Returns an object with its numbers converted for the evaluator. Numbers become doubles, as in JSON. A whole number that no double can
 * hold becomes an int or uint, which is compared exactly. A number that does not fit into an int or uint becomes the nearest double, and
 * long-numbers.ts keeps its digits. Returns the same object if no number changes.
 */
function withCelNumbers(object: object): object {
  return replaceRawNumbers(object, celNumber) as object;
}

const inPlace = new WeakMap<object, CelInput>();

/**
 * Returns a JSON value in the form that the expression evaluator needs. A part of the value is converted only when an expression reads it.
 * So a path into a large value costs no more than a path into a small value. Numbers are converted as by `celValues`, with one difference:
 * digits that a double cannot hold are lost, where `celValues` keeps them. The value must not change afterwards.
 */
export function celValueInPlace(value: JsonValue): CelInput {
  if (isRawJson(value)) return celNumber(value);
  if (typeof value !== "object" || value === null) return value;
  const known = inPlace.get(value);
  if (known !== undefined) return known;
  const made = Array.isArray(value)
    ? celList((value as readonly JsonValue[]).map(celValueInPlace))
    : celMap(new Fields(value as JsonObject));
  inPlace.set(value, made);
  return made;
}

/**
 * The fields of a JSON object as a map for the expression evaluator (CEL). Each value is converted to the evaluator's type when it is read.
 */
class Fields implements ReadonlyMap<string, CelInput> {
  readonly #object: JsonObject;
  constructor(object: JsonObject) {
    this.#object = object;
  }
  get size(): number {
    return Object.keys(this.#object).length;
  }
  get(name: unknown): CelInput | undefined {
    if (typeof name !== "string" || !Object.hasOwn(this.#object, name)) return undefined;
    const value = this.#object[name];
    return value === undefined ? undefined : celValueInPlace(value);
  }
  has(name: unknown): boolean {
    return this.get(name) !== undefined;
  }
  forEach(callback: (value: CelInput, name: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [name, value] of this.entries()) callback(value, name, this);
  }
  *entries(): MapIterator<[string, CelInput]> {
    for (const [name, value] of Object.entries(this.#object)) yield [name, celValueInPlace(value)];
  }
  keys(): MapIterator<string> {
    return Object.keys(this.#object).values();
  }
  *values(): MapIterator<CelInput> {
    for (const [, value] of this.entries()) yield value;
  }
  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }
}

/** Number of digits of the largest int and uint. */
const digitsMax = 20;

function celNumber(raw: RawNumber): number | bigint | CelUint {
  const text = JSON.stringify(raw);
  if (text === "-0") return -0;
  if (!/^-?\d+$/.test(text) || text.length > digitsMax) return nearestDouble(raw);
  const whole = BigInt(text);
  if (BigInt.asIntN(64, whole) === whole) return whole;
  return BigInt.asUintN(64, whole) === whole ? celUint(whole) : nearestDouble(raw);
}

/** Maximum length of the JSON of a computed value, in characters. */
const computedCharactersMax = 65_536;

/**
 * Returns the JSON text of an expression's value. `error`: the reason why the value has no JSON text, in a sentence that quotes no data.
 */
export function jsonOfCel(value: CelValue): { readonly text: string } | { readonly error: string } {
  try {
    const text = JSON.stringify(toJson(value));
    if (text.length <= computedCharactersMax) return { text };
    return { error: `returns more than the ${computedCharactersMax} characters that a value may have` };
  } catch (error) {
    if (error instanceof NoJsonError) return { error: error.message };
    throw error;
  }
}

class NoJsonError extends Error {}

const textOfTime = plan(celEnv(), parse("string(time)"));

/**
 * Returns a value as JSON: times as RFC 3339, durations as seconds followed by `s`, bytes as base64. Whole numbers keep all their digits.
 * Throws NoJsonError if the value has no JSON form.
 */
function toJson(value: CelValue): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return doubleOf(value);
  if (typeof value === "bigint") return wholeNumber(value);
  if (isCelUint(value)) return wholeNumber(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (isCelList(value)) return Array.from(value, toJson);
  if (isCelMap(value)) return objectOf(value);
  const { name } = celType(value);
  if (name !== "google.protobuf.Timestamp" && name !== "google.protobuf.Duration") {
    throw new NoJsonError("returns a value that JSON does not have");
  }
  const text = textOfTime({ time: value });
  if (isCelError(text)) throw new NoJsonError("returns a time out of range");
  return text;
}

/**
 * Returns the JSON form of a double that an expression returned. If a longer number of the input was rounded to this double, returns that
 * number with all its digits.
 */
function doubleOf(value: number): unknown {
  const long = longNumberOf(value);
  if (long === "unclear") {
    throw new NoJsonError(
      "returns one of several numbers that are equal as doubles but differ in their digits: name it by $ref",
    );
  }
  if (long !== undefined) return long;
  if (!Number.isFinite(value))
    throw new NoJsonError("returns a number that JSON does not have: infinite, or not a number");
  return Object.is(value, -0) ? rawJson("-0") : value;
}

/**
 * Returns the JSON form of a whole number. A number beyond 2^53 - 1 is written with its own digits, because the nearest double would have
 * other digits.
 */
function wholeNumber(value: bigint): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : rawJson(String(value));
}

function objectOf(map: Iterable<readonly [unknown, CelValue]>): object {
  const entries = Array.from(map, ([name, item]) => {
    if (typeof name !== "string") throw new NoJsonError("returns a map whose names are not texts");
    return [name, toJson(item)] as const;
  });
  return Object.fromEntries(entries);
}
