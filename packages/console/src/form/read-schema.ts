/** The kinds of values that a form has fields for. A value of any other kind is `json`: the user writes it as JSON. */
export type Shape =
  | { readonly type: "text"; readonly format: string; readonly isLong: boolean }
  | { readonly type: "number"; readonly isInteger: boolean }
  | { readonly type: "boolean" }
  | { readonly type: "choice"; readonly options: readonly unknown[] }
  | { readonly type: "date" }
  | { readonly type: "list"; readonly item: Shape; readonly isKept: boolean }
  | ObjectShape
  | JsonShape;

/** A value that is an object, whose properties have their own fields. */
export type ObjectShape = { readonly type: "object"; readonly fields: readonly FieldSpec[] };

/**
 * A value that is written as JSON. `takesText`: true if a text needs no quotes. `isLine`: true if neither an object nor a list is allowed,
 * so that one line is enough.
 */
export type JsonShape = { readonly type: "json"; readonly takesText: boolean; readonly isLine: boolean };

/** One property of an object that a form edits, with the texts of its field: label, hint and default. */
export type FieldSpec = {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
  /** True if the value is hidden while it is typed. */
  readonly isSensitive: boolean;
  /** True if the browser may store the last value that the user typed into this field. */
  readonly isKept: boolean;
  readonly description: string;
  /** Default as text, which applies if no value is given; empty if there is none. */
  readonly fallback: string;
};

type Schema = {
  type?: string | readonly string[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema | boolean;
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  maxLength?: number;
  description?: string;
  default?: unknown;
  "x-sensitive"?: boolean;
};

/** Maximum number of characters of a text that gets a field with a single line. If a text may be longer, its field has several lines. */
const lineMax = 500;
/** Names of properties that usually hold longer texts. They get a field with several lines. */
const longNames = /^(?:text|body|description|content|message|html|notes?|comment|summary|markdown)$/;

/**
 * Returns the fields of a tool's input schema (JSON text). Returns no fields if the schema is not that of an object. `hidden` names fields
 * to leave out.
 */
export function readSchema(schemaJson: string, hidden: readonly string[] = []): ObjectShape {
  const schema = parseSchema(schemaJson);
  return { type: "object", fields: fieldsOf(schema).filter(({ name }) => !hidden.includes(name)) };
}

function parseSchema(text: string): Schema {
  try {
    const schema: unknown = JSON.parse(text === "" ? "{}" : text);
    return isSchema(schema) ? schema : {};
  } catch {
    // The text is not JSON, or a newer service wrote the definition. The form then has no fields, and the user writes the arguments as
    // JSON.
    return {};
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the required fields first, then the other fields in the order of the schema. */
function fieldsOf({ properties = {}, required = [] }: Schema): FieldSpec[] {
  const fields = Object.entries(properties).map(([name, schema]): FieldSpec => {
    const shape = shapeOf(schema, name);
    return {
      name,
      shape,
      isRequired: required.includes(name),
      isSensitive: isSecret(schema),
      isKept: isKept(schema, shape),
      description: schema.description ?? "",
      fallback: schema.default === undefined ? "" : plainText(schema.default),
    };
  });
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

function isSecret(schema: Schema): boolean {
  return schema["x-sensitive"] === true;
}

/**
 * True if the browser may store the value that the user types into this field, and fill the field with the value at the next visit. False
 * for secret values, and for a JSON field if the schema marks any part of its value as sensitive.
 */
function isKept(schema: Schema, shape: Shape): boolean {
  return !isSecret(schema) && !(shape.type === "json" && JSON.stringify(schema).includes('"x-sensitive":true'));
}

/** Returns a value as text for display: a string without quotes, anything else as JSON. */
export function plainText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function shapeOf(schema: Schema, name = ""): Shape {
  if (!isSchema(schema)) return jsonShape([]);
  if (schema.enum !== undefined) return { type: "choice", options: schema.enum };
  if (schema.const !== undefined) return { type: "choice", options: [schema.const] };
  if (typeof schema.type !== "string") return jsonShape(schema.type ?? []);
  switch (schema.type) {
    case "string":
      return textShape(schema, name);
    case "integer":
    case "number":
      return { type: "number", isInteger: schema.type === "integer" };
    case "boolean":
      return { type: "boolean" };
    case "array":
      return isSchema(schema.items) ? listShape(schema.items) : jsonShape(["array"]);
    case "object":
      return hasFields(schema) ? { type: "object", fields: fieldsOf(schema) } : jsonShape(["object"]);
    default:
      return jsonShape([]);
  }
}

function textShape({ format = "", maxLength = 0 }: Schema, name: string): Shape {
  if (format === "date") return { type: "date" };
  const isLong = format === "" && (longNames.test(name) || maxLength > lineMax);
  return { type: "text", format, isLong };
}

/**
 * Returns the kind of form field for a list. A list whose items are lists is written as JSON, because a form with nested lists would not be
 * easier to use.
 */
function listShape(items: Schema): Shape {
  const item = shapeOf(items);
  return item.type === "list" ? jsonShape(["array"]) : { type: "list", item, isKept: isKept(items, item) };
}

function hasFields({ properties = {} }: Schema): boolean {
  return Object.keys(properties).length > 0;
}

function jsonShape(types: readonly string[]): JsonShape {
  const isLine = types.length > 0 && !types.includes("object") && !types.includes("array");
  return { type: "json", takesText: types.length === 0 || types.includes("string"), isLine };
}
