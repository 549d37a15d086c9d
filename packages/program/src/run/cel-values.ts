import { type CelInput, type CelUint, celList, celMap, celUint } from "@bufbuild/cel";
import { isRawJson, nearestDouble, type RawNumber, replaceRawNumbers } from "@svc/core/raw-json";
import type { JsonObject, JsonValue } from "../json.ts";
import { noteLongNumbers } from "./long-numbers.ts";

/** Values by the names that an expression has for them. */
export type CelValues = Readonly<Record<string, CelInput>>;

const known = new WeakMap<object, CelInput>();
/** Objects that hold numbers which no value of the evaluator is. */
const long = new WeakSet<object>();

/**
 * Values as the evaluator takes them, objects as maps: it would make one of an object each time that it is named. What is given is not
 * to be changed afterwards.
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
 * Rows as maps, each with the values that all have, which were made of those `given`; null for one that has none of its own. As many as are
 * made before `isOver`, one at least.
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
 * An object with numbers as the evaluator takes them: doubles, as in JSON, and a whole one that no double holds as an int or uint,
 * which compares with its kind exactly. What fits neither is its nearest double, and long-numbers.ts knows it again. The same object when it holds none such.
 */
function withCelNumbers(object: object): object {
  return replaceRawNumbers(object, celNumber) as object;
}

/** Digits of the largest int and uint. */
const digitsMax = 20;

function celNumber(raw: RawNumber): number | bigint | CelUint {
  const text = JSON.stringify(raw);
  if (text === "-0") return -0;
  if (!/^-?\d+$/.test(text) || text.length > digitsMax) return nearestDouble(raw);
  const whole = BigInt(text);
  if (BigInt.asIntN(64, whole) === whole) return whole;
  return BigInt.asUintN(64, whole) === whole ? celUint(whole) : nearestDouble(raw);
}
