import { parseExactJson } from "./exact-json.ts";
import { isRawJson } from "./raw-json.ts";

/** A JSON value. A number that no double holds stands in it as what `rawJson` makes, in the type of an object. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [name: string]: JsonValue };

/** Whether a value is a JSON object: not a list, not null, and no number in raw JSON. */
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);
}

/** The object that JSON text of our own holds, with all digits of its numbers. `name` says what it is in the Error that is thrown for anything else. */
export function readJsonObject(text: string, name: string): JsonObject {
  const value = parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY }) as JsonValue;
  if (!isJsonObject(value)) throw new Error(`${name} holds no JSON object`);
  return value;
}

/** Whether a JSON value is an object. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return isObject(value);
}
