import { parseExactJson } from "./exact-json.ts";
import { isRawJson } from "./raw-json.ts";

/** A JSON value. A number that a double cannot hold is an object from `rawJson`; the type of that object is JsonObject. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [name: string]: JsonValue };

/**
 * True if a value is a JSON object. False for a list, for null, and for a raw number (an object that keeps the digits of a number that does
 * not fit into a double).
 */
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);
}

/**
 * Returns the object in a JSON text that svc itself wrote. Its numbers keep all digits. Throws an Error that contains `name` if the text is
 * not an object.
 */
export function readJsonObject(text: string, name: string): JsonObject {
  const value = parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY }) as JsonValue;
  if (!isJsonObject(value)) throw new Error(`${name} holds no JSON object`);
  return value;
}

/** True if a JSON value is an object. False for lists, null, texts, booleans and numbers. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return isObject(value);
}
