import { isObject, readTime } from "@svc/core";
import type { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonSchema } from "../read/documents.ts";

/**
 * Maximum characters of a text for each format. Each expression used here was reviewed and takes linear time. The `url` of ajv-formats does
 * not, and its `byte` has no limit; both are replaced below, as is `date-time`.
 */
const textFormats: Readonly<Record<string, number>> = {
  date: 100,
  time: 100,
  "iso-time": 100,
  "iso-date-time": 100,
  duration: 100,
  uuid: 100,
  ipv4: 100,
  ipv6: 100,
  email: 1000,
  hostname: 1000,
  regex: 10_000,
  uri: 65_536,
  "uri-reference": 65_536,
  "uri-template": 65_536,
  "json-pointer": 65_536,
  "json-pointer-uri-fragment": 65_536,
  "relative-json-pointer": 65_536,
};

/** Formats that do not restrict texts, and formats of numbers. */
const plainFormats = ["int32", "int64", "float", "double", "password", "binary"] as const;

/** Adds the formats that schemas may use. */
export function addFormats(ajv: Ajv2020): void {
  for (const [name, lengthMax] of Object.entries(textFormats)) {
    const test = testOf(name as Parameters<typeof formats.default.get>[0]);
    ajv.addFormat(name, (text: string) => text.length <= lengthMax && test(text));
  }
  for (const name of plainFormats) ajv.addFormat(name, formats.default.get(name));
  ajv.addFormat(
    "url",
    (text: string) => text.length <= 65_536 && /^(?:https?|ftp):\/\/[^\s/\\]\S*$/i.test(text) && URL.canParse(text),
  );
  // The one of ajv-formats accepts a space instead of the T, the year 0 and a leap second on any day.
  ajv.addFormat("date-time", (text: string) => readTime(text) !== undefined);
  ajv.addFormat("byte", (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text));
}

/** True if a schema may use the format. */
export function isKnownFormat(format: string): boolean {
  return (
    Object.hasOwn(textFormats, format) ||
    ["url", "date-time", "byte"].includes(format) ||
    plainFormats.some((name) => name === format)
  );
}

/** Returns the test of an ajv-formats format: an expression, a function, or an object with one of them. */
function testOf(name: Parameters<typeof formats.default.get>[0]): (text: string) => boolean {
  const format = formats.default.get(name);
  const definition = typeof format === "object" && "validate" in format ? format.validate : format;
  if (definition instanceof RegExp) return (text) => definition.test(text);
  if (typeof definition === "function") return (text) => (definition as (value: string) => unknown)(text) === true;
  throw new TypeError(`${name} is not a format of texts`);
}

/**
 * Returns a copy of arguments with the declared default of every absent property, also inside given objects and lists. Malformed values
 * stay unchanged for validation to report.
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
  // Object.fromEntries, because a property may be named __proto__.
  return Object.fromEntries(filled);
}
