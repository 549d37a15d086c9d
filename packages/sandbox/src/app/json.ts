import { isObject, parseExactJson } from "@svc/core";

/** An object of JSON. */
export type JsonObject = { readonly [key: string]: unknown };

/** The properties that a schema declares, in order. */
export function propertiesOf(schema: unknown): [string, JsonObject][] {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, child]) => [name, isObject(child) ? child : {}]);
}

/** The types that a schema allows; empty where it names none. */
export function typesOf(schema: unknown): readonly unknown[] {
  const type = isObject(schema) ? schema["type"] : undefined;
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

/** The item schema of a list; an empty one where items are free. */
export function itemsOf(schema: unknown): JsonObject {
  const items = isObject(schema) ? schema["items"] : undefined;
  return isObject(items) ? items : {};
}

const isJsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The value as JSON numbers, booleans and texts stand in a URL, read back as the first type the schema allows. */
export function readScalar(text: string, schema: unknown): unknown {
  const types = typesOf(schema);
  if (types.includes("string") || types.length === 0) return text;
  if ((types.includes("integer") || types.includes("number")) && text.trim() !== "" && !Number.isNaN(Number(text))) {
    return isJsonNumber.test(text) ? parseExactJson(text) : Number(text);
  }
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}
