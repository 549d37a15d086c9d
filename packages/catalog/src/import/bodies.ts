import { isMethodOverride, isObject } from "@svc/core";
import type { JsonSchema, RequestDocument } from "../read/documents.ts";
import { type ToolArguments, withoutDefault } from "./arguments.ts";
import { LeftOutError } from "./import-fault.ts";
import { type DocumentNode, resolved } from "./read.ts";
import { listOf, objectOf, type SchemaConverter, typesOf } from "./schema.ts";
import { textOf } from "./texts.ts";

/** The part of an imported tool that concerns the request body: the arguments for the body, and the body and headers of the request. */
export type ToolBody = {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  /** For each field of an optional body, the fields that the body then needs. Undefined if there are none. */
  readonly dependentRequired?: JsonSchema | undefined;
  readonly request: Pick<RequestDocument, "body" | "encoding" | "emptyBody">;
  readonly headers: Readonly<Record<string, string>>;
};

/** Options of `bodyOf`. `others`: the arguments outside of the body. `onCut`: called with the reason when a field is left out. */
type BodyOptions = {
  readonly converter: SchemaConverter;
  readonly others: ToolArguments;
  readonly onCut: (reason: string) => void;
};

/** True for the media types of JSON, such as `application/json` and `application/problem+json`. */
export function isJson(type: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
}

/** True for the media types that documents use for JSON of any kind. */
export function isAnyJson(type: string): boolean {
  return /^(?:text\/json|\*\/\*)/i.test(type);
}

const isPlainJson = (type: string) => /^application\/json\b/i.test(type);
const isForm = (type: string) => /^application\/x-www-form-urlencoded\b/i.test(type);
const isBinary = (type: string) =>
  /^(?:multipart\/|application\/octet-stream|application\/(?:zip|pdf|gzip)|image\/|audio\/|video\/)/i.test(type);

/**
 * Returns the request body of an operation as a part of the imported tool. If the body is an object, each of its fields becomes an
 * argument. If it is not an object, or a field has the name of another argument, the whole body is the argument `body`. Throws LeftOutError
 * if svc cannot send the body.
 */
export function bodyOf(root: DocumentNode, node: DocumentNode, { converter, others, onCut }: BodyOptions): ToolBody {
  const body = resolved(root, node["requestBody"]);
  const contents = Object.entries(objectOf(body["content"]));
  if (contents.length === 0) return { properties: {}, required: [], request: {}, headers: {} };
  const found =
    contents.find(([type]) => isPlainJson(type)) ??
    contents.find(([type]) => isJson(type)) ??
    contents.find(([type]) => isForm(type)) ??
    contents.find(([type]) => isAnyJson(type));
  if (found === undefined) throw new LeftOutError(contents.some(([type]) => isBinary(type)) ? "upload" : "body_type");
  const [type, content] = found;
  const schema = withoutOverrides(converter.convert(resolved(root, content)["schema"] ?? {}, "body"), onCut);
  const filters = isForm(type) ? formFilters(schema, objectOf(objectOf(content)["encoding"])) : new Map();
  const sent = withoutFields(schema, filters, onCut);
  const isRequired = body["required"] === true;
  const made = sideBySide(sent, { isRequired, others, filters, onCut }) ?? wholeBody(sent, isRequired, isForm(type));
  const isOneArgument = typeof made.request.body === "string";
  const lost = isOneArgument ? [] : ["minProperties", "maxProperties"].filter((keyword) => sent[keyword] !== undefined);
  for (const keyword of lost) onCut(`${keyword} of the body`);
  const request = { ...made.request, ...(isForm(type) && { encoding: "form" as const }) };
  const headers = isJson(type) && !isPlainJson(type) ? { "Content-Type": plainType(type) } : {};
  return { ...made, request, headers };
}

/**
 * Returns the schema of a request body without fields that change the HTTP method, such as `_method`. Calls `onCut` for each removed field.
 */
function withoutOverrides(schema: JsonSchema, onCut: BodyOptions["onCut"]): JsonSchema {
  const fields = Object.entries(objectOf(schema["properties"]));
  // With such a field, some servers would run another operation, which may have a more dangerous access class.
  const overrides = fields.filter(([name]) => isMethodOverride(name)).map(([name]) => name);
  for (const _ of overrides) onCut("method override");
  return withoutProperties(schema, overrides);
}

function withoutProperties(schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (names.length === 0) return schema;
  const kept = Object.entries(objectOf(schema["properties"])).filter(([name]) => !names.includes(name));
  const left = listOf(schema["required"]).filter((name) => !names.includes(String(name)));
  const { required: _required, ...others } = schema;
  return { ...others, properties: Object.fromEntries(kept), ...(left.length > 0 && { required: left }) };
}

/**
 * For each field of a form, the template filter that writes its value, such as ` | csv`; empty for a value that needs none. Undefined for a
 * field that svc cannot write.
 */
type FormFilters = ReadonlyMap<string, string | undefined>;

/**
 * Returns how the fields of a form are written. `encodings`: the document's Encoding Objects by field. A list of single values repeats its
 * field by default (style `form`, exploded). Other lists and objects have names with brackets, if their encoding names no other style.
 */
function formFilters(schema: JsonSchema, encodings: DocumentNode): FormFilters {
  const fields = Object.entries(objectOf(schema["properties"]));
  return new Map(fields.map(([name, field]) => [name, formFilterOf(objectOf(field), objectOf(encodings[name]))]));
}

function formFilterOf(field: DocumentNode, encoding: DocumentNode): string | undefined {
  const { style, explode, contentType } = encoding;
  const forms = field["anyOf"] === undefined ? [field] : listOf(field["anyOf"]).map(objectOf);
  const types = forms.flatMap((form) => typesOf(form) ?? []);
  const items = forms.flatMap((form) => typesOf(objectOf(form["items"])) ?? []);
  const isNested = [...types, ...items].includes("object") || items.includes("array");
  const isDeclared = style !== undefined || explode !== undefined;
  if (style === "deepObject" || !(isNested || types.includes("array"))) return "";
  if (!isDeclared && isJson(textOf(contentType))) return " | json";
  if (isNested) return isDeclared ? undefined : "";
  if (explode !== false && (style === undefined || style === "form")) return " | repeat";
  return style === undefined || style === "form" ? " | csv" : undefined;
}

/**
 * Returns the schema of a form without the fields that svc cannot write. Calls `onCut` for each of them. Throws LeftOutError if one of them
 * is required.
 */
function withoutFields(schema: JsonSchema, filters: FormFilters, onCut: BodyOptions["onCut"]): JsonSchema {
  const unsent = [...filters].filter(([, filter]) => filter === undefined).map(([name]) => name);
  if (listOf(schema["required"]).some((name) => unsent.includes(String(name))))
    throw new LeftOutError("parameter_encoding");
  for (const name of unsent) onCut(`form field ${name.slice(0, 60)}`);
  return withoutProperties(schema, unsent);
}

/**
 * Returns a media type (such as `application/json`) without characters that a header or a template cannot contain, and with at most 200
 * characters.
 */
export function plainType(type: string): string {
  return type.replaceAll(/[^\x20-\x7e]|[{}]/g, "").slice(0, 200);
}

type SideBySideOptions = Pick<BodyOptions, "others" | "onCut"> & {
  readonly isRequired: boolean;
  readonly filters: FormFilters;
};

function sideBySide(
  schema: JsonSchema,
  { isRequired, others, filters, onCut }: SideBySideOptions,
): Omit<ToolBody, "headers"> | undefined {
  const fields = Object.entries(objectOf(schema["properties"]));
  const isPlain = typesOf(schema)?.length === 1 && schema["type"] === "object" && schema["anyOf"] === undefined;
  if (!isPlain || fields.length === 0 || fields.some(([name]) => !isFree(name, others))) return undefined;
  const needed = fields.map(([name]) => name).filter((name) => listOf(schema["required"]).includes(name));
  const properties = Object.fromEntries(fields) as Record<string, JsonSchema>;
  const body = Object.fromEntries(
    fields.map(([name]) => [name, `{{${placeOf(name)}${filters.get(name) ?? ""}}}`] as const),
  );
  if (isRequired) return { properties, required: needed, request: { body } };
  // A default would send a body that the caller did not ask for.
  return {
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, withAppDefault(field)])),
    required: [],
    dependentRequired: dependentOn(Object.keys(properties), needed, onCut),
    request: { body, emptyBody: "none" },
  };
}

/** Returns the schema of a field with its default as a part of the description: the app fills it in, not svc. */
function withAppDefault(field: JsonSchema): JsonSchema {
  if (field["default"] === undefined) return field;
  const text = `${String(field["description"] ?? "")} Default of the app: ${JSON.stringify(field["default"])}.`.trim();
  return { ...withoutDefault(field), description: text };
}

/** Maximum entries of the rule that says which fields of an optional body need other fields. A longer rule is left out. */
const entriesMax = 400;

function dependentOn(
  names: readonly string[],
  needed: readonly string[],
  onCut: BodyOptions["onCut"],
): JsonSchema | undefined {
  if (names.length * needed.length > entriesMax) {
    onCut("required fields of the body");
    return undefined;
  }
  const rules = names.map((name) => [name, needed.filter((other) => other !== name)] as const);
  const kept = rules.filter(([, others]) => others.length > 0);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function isFree(name: string, { properties }: ToolArguments): boolean {
  return !Object.hasOwn(properties, name) && name !== "confirm" && name !== "body" && /^[^"|{}]{1,100}$/.test(name);
}

function placeOf(name: string): string {
  return /^[\w$@-]+$/.test(name) ? `params.${name}` : `params["${name}"]`;
}

function wholeBody(schema: JsonSchema, isRequired: boolean, isFormBody: boolean): Omit<ToolBody, "headers"> {
  const description = schema["description"] ?? "Body of the request.";
  const typedSchema = isFormBody && !isObject(schema["properties"]) ? { type: "object" } : schema;
  return {
    properties: { body: { ...typedSchema, description } },
    required: isRequired ? ["body"] : [],
    request: { body: "{{params.body}}" },
  };
}
