import { isObject } from "@svc/core";

/** A JSON Schema that a command shows. A value that is not an object counts as an empty schema. */
type Schema = { readonly [keyword: string]: unknown };

/** Returns the JSON Schema in a field of an API message. The field contains the schema as JSON text. */
export function parseSchema(text: string): Schema {
  return asSchema(JSON.parse(text));
}

/**
 * Returns a table row for each argument: path, type, required or not, default, description. Rows of nested arguments follow the row of
 * their parent.
 */
export function argumentRows(input: Schema): string[][] {
  return propertiesOf(input).map(({ path, schema, isRequired }) => {
    const fallback = schema["default"] === undefined ? "" : JSON.stringify(schema["default"]);
    return [path, typeText(schema), isRequired ? "yes" : "", fallback, textOf(schema["description"])];
  });
}

/** Returns a table row for each field of a tool's result: the field's path and its type. */
export function fieldRows(output: Schema): string[][] {
  const item = output["type"] === "array" ? asSchema(output["items"]) : undefined;
  const rows = propertiesOf(item ?? output, item === undefined ? "" : "[].");
  return rows.map(({ path, schema }) => [path, typeText(schema)]);
}

/** True if the schema of a tool's arguments has rules that concern several arguments together (for example `anyOf`). */
export function hasRules(schema: Schema): boolean {
  const keywords = ["if", "not", "allOf", "anyOf", "oneOf", "dependentRequired", "dependentSchemas", "minProperties"];
  return keywords.some((keyword) => schema[keyword] !== undefined);
}

type Property = { readonly path: string; readonly schema: Schema; readonly isRequired: boolean };

/** Returns the properties of an object. After each property follow the properties of its value or of its items. */
function propertiesOf(schema: Schema, prefix = ""): Property[] {
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  return Object.entries(asSchema(schema["properties"])).flatMap(([name, value]) => {
    const property = asSchema(value);
    const own = { path: `${prefix}${name}`, schema: property, isRequired: required.has(name) };
    const nested = propertiesOf(property, `${own.path}.`);
    return [own, ...nested, ...propertiesOf(asSchema(property["items"]), `${own.path}[].`)];
  });
}

function typeText(schema: Schema): string {
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map(String).join(" | ");
  const types = [schema["type"] ?? alternativesOf(schema)].flat().map(String);
  const text = types.length > 5 ? "any" : types.join(" | ");
  const items = asSchema(schema["items"]);
  if (text === "array" && Object.keys(items).length > 0) return `list of ${typeText(items)}`;
  const name = text === "array" ? "list" : text;
  return typeof schema["format"] === "string" ? `${name} (${schema["format"]})` : name;
}

function alternativesOf(schema: Schema): string[] {
  const alternatives = [schema["anyOf"] ?? schema["oneOf"] ?? []].flat().map((value) => typeText(asSchema(value)));
  return alternatives.length === 0 ? ["any"] : [...new Set(alternatives)];
}

function asSchema(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim().replaceAll(/\s+/g, " ") : "";
}
