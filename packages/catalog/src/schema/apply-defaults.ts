import { isObject } from "@svc/core";
import type { JsonSchema } from "../read/documents.ts";

/**
 * A copy of arguments in which every absent property that declares a default has it, also inside objects and lists that are
 * given. Values that do not have the declared form are left as they are, for validation to name.
 */
export function applyDefaults(schema: JsonSchema, value: unknown): unknown {
  if (isObject(value) && isObject(schema.properties)) return applyToObject(schema.properties, value);
  if (Array.isArray(value) && isObject(schema.items)) {
    const { items } = schema;
    return value.map((item) => applyDefaults(items, item));
  }
  return value;
}

function applyToObject(properties: JsonSchema, value: JsonSchema): JsonSchema {
  const filled = new Map(Object.entries(value));
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    if (Object.hasOwn(value, name)) filled.set(name, applyDefaults(property, value[name]));
    else if (property.default !== undefined) filled.set(name, applyDefaults(property, property.default));
  }
  // Not by assignment: a property may be named __proto__.
  return Object.fromEntries(filled);
}
