import { type CelInput, celMap, celUint } from "@bufbuild/cel";
import { nearestDouble, type RawNumber, replaceRawNumbers } from "@svc/core/raw-json";
import type { JsonObject } from "../json.ts";

/** Values by the names that an expression has for them. */
export type CelValues = Readonly<Record<string, CelInput>>;

const maps = new WeakMap<JsonObject, CelInput>();

/** Objects as maps: the evaluator would make one of an object each time that it is named. */
export function celValues(objects: Readonly<Record<string, JsonObject | undefined>>): CelValues {
  const values: Record<string, CelInput> = {};
  for (const [name, object] of Object.entries(objects)) if (object !== undefined) values[name] = mapOf(object);
  return values;
}

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
    made.push(row === null ? values : { ...values, row: mapOf(row) });
    if (isOver()) break;
  }
  return made;
}

function mapOf(object: JsonObject): CelInput {
  const known = maps.get(object);
  if (known !== undefined) return known;
  const made = celMap(new Map(Object.entries(withCelNumbers(object))) as ReadonlyMap<string, CelInput>);
  maps.set(object, made);
  return made;
}

/**
 * An object with numbers as the evaluator takes them: doubles, as in JSON, and a whole one that no double holds as an int or uint,
 * which compares with its kind exactly. What fits neither is its nearest double. The same object when it holds none such.
 */
function withCelNumbers(object: JsonObject): object {
  return replaceRawNumbers(object, celNumber) as object;
}

/** Digits of the largest int and uint. */
const digitsMax = 20;

function celNumber(raw: RawNumber): unknown {
  const text = JSON.stringify(raw);
  if (!/^-?\d+$/.test(text) || text.length > digitsMax) return nearestDouble(raw);
  const whole = BigInt(text);
  if (BigInt.asIntN(64, whole) === whole) return whole;
  return BigInt.asUintN(64, whole) === whole ? celUint(whole) : nearestDouble(raw);
}
