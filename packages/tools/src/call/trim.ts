import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { sensitiveNames } from "./mask.ts";
import { objectOfText } from "./text-object.ts";

/**
 * Keeps of a value what an output schema names. An object without `properties`, or a list without `items`, is kept whole, and so
 * is null and every value of another type than declared: telling that is validation's part. JSON text of an object, where an object
 * is declared, is that object; one that has nothing of what is named is kept whole, since nobody else says what the app meant by it.
 */
export function trim(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item: unknown) => trim(items, item)) : value;
  }
  if (typeof value === "string") return trimText(schema, value);
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return value;
  const named = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name));
  // Not by assignment: a property may be named __proto__.
  return Object.fromEntries(
    named.map(([name, child]) => [name, isObject(child) ? trim(child, value[name]) : value[name]]),
  );
}

function trimText(schema: JsonSchema, text: string): unknown {
  const object = objectOfText(schema, text);
  if (object === undefined) return text;
  const trimmed = trim(schema, object);
  if (!isObject(trimmed) || Object.keys(trimmed).length > 0) return trimmed;
  // Where something is sensitive, a text is masked whole, and what is under other names would not be.
  return sensitiveNames(schema).length > 0 ? text : object;
}
