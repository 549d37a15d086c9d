import { isObject, readTime } from "@svc/core";
import type { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonSchema } from "../read/documents.ts";

/**
 * Formats of texts that ajv-formats checks, with the maximum number of characters. Their regular expressions were reviewed: they take
 * linear time.
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

/** Formats that a schema may name. Every text satisfies them. Some of them check numbers. */
const plainFormats = ["int32", "int64", "float", "double", "password", "binary"] as const;

/** Registers the formats that schemas may use with the schema compiler `ajv`. */
export function addFormats(ajv: Ajv2020): void {
  for (const [name, lengthMax] of Object.entries(textFormats)) {
    const test = testOf(name as Parameters<typeof formats.default.get>[0]);
    ajv.addFormat(name, (text: string) => text.length <= lengthMax && test(text));
  }
  for (const name of plainFormats) ajv.addFormat(name, formats.default.get(name));
  // The test of `url` in ajv-formats does not take linear time.
  ajv.addFormat(
    "url",
    (text: string) => text.length <= 65_536 && /^(?:https?|ftp):\/\/[^\s/\\]\S*$/i.test(text) && URL.canParse(text),
  );
  // svc tests the format `date-time` with its function `readTime`. The test in ajv-formats also accepts wrong times: a space instead of the
  // T, the year 0, or a leap second on any day.
  ajv.addFormat("date-time", (text: string) => readTime(text) !== undefined);
  ajv.addFormat("byte", (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text));
}

/** Returns true if a toolkit's JSON Schemas may use this value of the keyword `format`. */
export function isKnownFormat(format: string): boolean {
  return (
    Object.hasOwn(textFormats, format) ||
    ["url", "date-time", "byte"].includes(format) ||
    plainFormats.some((name) => name === format)
  );
}

/**
 * Returns a function that tests if a text has the named format. The package ajv-formats defines a format as a regular expression, a
 * function, or an object that contains one of them.
 */
function testOf(name: Parameters<typeof formats.default.get>[0]): (text: string) => boolean {
  const format = formats.default.get(name);
  const definition = typeof format === "object" && "validate" in format ? format.validate : format;
  if (definition instanceof RegExp) return (text) => definition.test(text);
  if (typeof definition === "function") return (text) => (definition as (value: string) => unknown)(text) === true;
  throw new TypeError(`${name} is not a format of texts`);
}

/**
 * Returns a copy of the arguments in which every absent property with a declared default has the default, also inside given objects and
 * lists. Malformed values stay unchanged, so that the validation reports them.
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
  // Object.fromEntries is used, because an assignment to a property named `__proto__` would change the prototype.
  return Object.fromEntries(filled);
}
