import type { JsonSchema } from "@svc/catalog";
import { isObject, type JsonObject, parseExactJson, scalarText } from "@svc/core";

/** Values that a text is read of, as many as an answer. */
const valuesMax = 200_000;

/** The object that a text holds as JSON, where a schema wants an object and no text; undefined where it does not, or the text has none. */
export function objectOfText(schema: JsonSchema, text: string): JsonObject | undefined {
  if (!wantsObjectAlone(schema) || !/^\s*\{/.test(text)) return undefined;
  try {
    const value = parseExactJson(text, { valuesMax });
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    // A text that is no JSON, or too much of it, stays the text that it is.
    return undefined;
  }
}

/**
 * The object that a bare text, number or boolean stands for, where a schema wants an object of one property that is none itself: an app
 * that answers the id of what it changed means `{id}`. Undefined for anything else. A number that is wanted as text becomes one.
 */
export function objectOfScalar(schema: JsonSchema, value: unknown): JsonObject | undefined {
  const text = scalarText(value);
  if (text === undefined || !wantsObjectAlone(schema) || !isObject(schema.properties)) return undefined;
  const [only, ...others] = Object.entries(schema.properties);
  if (only === undefined || others.length > 0) return undefined;
  const [name, property] = only;
  const types = isObject(property) ? [property.type ?? []].flat() : [];
  if (types.includes("object") || types.includes("array")) return undefined;
  const isText = types.includes("string") && types.every((type) => type === "string" || type === "null");
  return { [name]: isText ? text : value } as JsonObject;
}

function wantsObjectAlone({ type, properties }: JsonSchema): boolean {
  const types = [type ?? (isObject(properties) ? "object" : [])].flat();
  return types.includes("object") && !types.includes("string");
}
