import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { JsonValue } from "@svc/program";

const depthMax = 8;

/**
 * Returns the simplest value that a schema allows, as the answer of a simulated write. Equal schemas give equal values. A sensitive text
 * differs from all other texts, because svc masks every text that equals a sensitive one.
 */
export function sampleOf(schema: JsonSchema, depth = 0, isSensitive = schema["x-sensitive"] === true): JsonValue {
  if ("const" in schema) return schema.const as JsonValue;
  if (Array.isArray(schema.enum)) return (schema.enum[0] ?? null) as JsonValue;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0] as JsonValue;
  if (schema.default !== undefined) return schema.default as JsonValue;
  const branch = ["oneOf", "anyOf", "allOf"]
    .map((name) => schema[name])
    .find((list) => Array.isArray(list) && list.length > 0);
  if (branch !== undefined && schema.type === undefined) {
    const [first = {}] = branch as JsonSchema[];
    return sampleOf(first, depth + 1, isSensitive || first["x-sensitive"] === true);
  }
  switch (typeOf(schema)) {
    case "object":
      return sampleObject(schema, depth, isSensitive);
    case "array":
      return isObject(schema.items) && Number(schema.minItems ?? 0) > 0 && depth < depthMax
        ? [sampleOf(schema.items, depth + 1, isSensitive || schema.items["x-sensitive"] === true)]
        : [];
    case "string":
      return sampleText(schema, isSensitive);
    case "integer":
    case "number":
      return Number(schema.minimum ?? 0);
    case "boolean":
      return false;
    default:
      return null;
  }
}

function sampleObject(schema: JsonSchema, depth: number, isSensitive: boolean): JsonValue {
  if (!isObject(schema.properties) || depth >= depthMax) return {};
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, child]) => [
      name,
      isObject(child) ? sampleOf(child, depth + 1, isSensitive || child["x-sensitive"] === true) : null,
    ]),
  );
}

function sampleText({ format, minLength }: JsonSchema, isSensitive: boolean): string {
  const word = isSensitive ? "simulated-secret" : "simulated";
  if (format === "date-time") return "2000-01-01T00:00:00Z";
  if (format === "date") return "2000-01-01";
  if (format === "uri") return isSensitive ? `https://${word}.example.com/` : "https://example.com/";
  if (format === "email") return `${word}@example.com`;
  return word.padEnd(Math.min(Number(minLength ?? 0), 256), "-");
}

function typeOf({ type, properties }: JsonSchema): unknown {
  if (Array.isArray(type)) return type.find((name) => name !== "null") ?? "null";
  return type ?? (properties === undefined ? undefined : "object");
}
