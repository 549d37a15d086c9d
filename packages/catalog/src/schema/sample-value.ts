import { isObject, isoTime } from "@svc/core";

/** A JSON Schema, read only to create a sample value. Only the keywords that affect a sample value are used. */
export type SampleSchema = { readonly [keyword: string]: unknown };

/**
 * Returns a sample value of a schema: its first enum value or its constant; otherwise a simple value of its type that contains `name`.
 * Ignores limits and patterns; a caller whose schema has them must provide the value itself.
 */
export function sampleValue(schema: SampleSchema, name: string, nowMs: number): unknown {
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if ("const" in schema) return schema["const"];
  switch (typeOf(schema)) {
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [sampleValue(asSchema(schema["items"]), name, nowMs)];
    case "object":
      return Object.fromEntries(
        Object.entries(asSchema(schema["properties"])).map(([key, value]) => [
          key,
          sampleValue(asSchema(value), key, nowMs),
        ]),
      );
    default:
      return sampleText(schema, name, nowMs);
  }
}

/** Returns the schema of a field by the keys and indexes of its path; an empty schema if the field is not declared. */
export function schemaAt(schema: SampleSchema, path: readonly (string | number)[]): SampleSchema {
  return path.reduce<SampleSchema>(
    (at, step) => asSchema(typeof step === "number" ? at["items"] : asSchema(at["properties"])[step]),
    schema,
  );
}

/** Returns the first type in a schema's `type`, except `null`. Returns `string` if there is none. */
export function typeOf({ type }: SampleSchema): string {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return String(types.find((candidate) => candidate !== "null") ?? "string");
}

function sampleText({ format, maxLength }: SampleSchema, name: string, nowMs: number): string {
  const present = isoTime(nowMs);
  if (format === "date-time") return present;
  if (format === "date") return present.slice(0, 10);
  if (format === "uri") return `https://example.com/${name}`;
  if (format === "email") return "person@example.com";
  return `sample-${name}`.slice(0, typeof maxLength === "number" ? maxLength : undefined);
}

function asSchema(value: unknown): SampleSchema {
  return isObject(value) ? value : {};
}
