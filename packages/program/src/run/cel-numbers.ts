import { celUint } from "@bufbuild/cel";
import { nearestDouble, type RawNumber, replaceRawNumbers } from "@svc/core/raw-json";
import type { JsonObject } from "../json.ts";

/**
 * An object with numbers as the evaluator takes them: doubles, as in JSON, and a whole one that no double holds as an int or uint,
 * which compares with its kind exactly. What fits neither is its nearest double. The same object when it holds none such.
 */
export function withCelNumbers(object: JsonObject): object {
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
