import type { JsonSchema } from "@svc/catalog";
import { isRawJson } from "./raw-json.ts";

/**
 * Keeps of a value what an output schema names. An object without `properties`, or a list without `items`, is kept whole, and so
 * is null and every value of another type than declared: telling that is validation's part.
 */
export function trim(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item: unknown) => trim(items, item)) : value;
  }
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return value;
  const named = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name));
  // Not by assignment: a property may be named __proto__.
  return Object.fromEntries(
    named.map(([name, child]) => [name, isObject(child) ? trim(child, value[name]) : value[name]]),
  );
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);
}
