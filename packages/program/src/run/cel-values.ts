import { type CelInput, type CelUint, celEnv, celList, celMap, celUint, isCelError, parse, plan } from "@bufbuild/cel";
import { isRawJson, nearestDouble, type RawNumber, replaceRawNumbers } from "@svc/core/raw-json";
import type { JsonObject, JsonValue } from "../json.ts";

/** Values by the names that an expression has for them. */
export type CelValues = Readonly<Record<string, CelInput>>;

const known = new WeakMap<object, CelInput>();

/**
 * Values as the evaluator takes them, objects as maps: it would make one of an object each time that it is named. What is given is not
 * to be changed afterwards.
 */
export function celValues(given: Readonly<Record<string, JsonValue | undefined>>): CelValues {
  const values: Record<string, CelInput> = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) values[name] = celValueOf(value);
  return values;
}

/** A time, of epoch milliseconds. */
export function celTime(ms: number): CelInput {
  const made = timeOf({ text: new Date(ms).toISOString() });
  if (isCelError(made)) throw new Error(made.message);
  return made;
}

const timeOf = plan(celEnv(), parse("timestamp(text)"));

/**
 * Rows as maps, each with the values that all have; null for one that has none of its own. As many as are made before `isOver`, one at
 * least.
 */
export function celRows(
  values: CelValues,
  rows: readonly (JsonObject | null)[],
  isOver: () => boolean,
): readonly CelValues[] {
  const made: CelValues[] = [];
  for (const row of rows) {
    made.push(row === null ? values : { ...values, row: celValueOf(row) });
    if (isOver()) break;
  }
  return made;
}

function celValueOf(value: JsonValue): CelInput {
  if (isRawJson(value)) return celNumber(value);
  if (typeof value !== "object" || value === null) return value;
  const made = known.get(value);
  if (made !== undefined) return made;
  const own = withCelNumbers(value);
  const whole = Array.isArray(own)
    ? celList(own as CelInput[])
    : celMap(new Map(Object.entries(own)) as ReadonlyMap<string, CelInput>);
  known.set(value, whole);
  return whole;
}

/**
 * An object with numbers as the evaluator takes them: doubles, as in JSON, and a whole one that no double holds as an int or uint,
 * which compares with its kind exactly. What fits neither is its nearest double. The same object when it holds none such.
 */
function withCelNumbers(object: object): object {
  return replaceRawNumbers(object, celNumber) as object;
}

/** Digits of the largest int and uint. */
const digitsMax = 20;

function celNumber(raw: RawNumber): number | bigint | CelUint {
  const text = JSON.stringify(raw);
  if (!/^-?\d+$/.test(text) || text.length > digitsMax) return nearestDouble(raw);
  const whole = BigInt(text);
  if (BigInt.asIntN(64, whole) === whole) return whole;
  return BigInt.asUintN(64, whole) === whole ? celUint(whole) : nearestDouble(raw);
}
