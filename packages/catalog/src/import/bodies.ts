import { isMethodOverride, isObject } from "@svc/core";
import type { JsonSchema, RequestDocument } from "../read/documents.ts";
import type { ToolArguments } from "./arguments.ts";
import { LeftOutError } from "./import-fault.ts";
import { type DocumentNode, resolved } from "./read.ts";
import { listOf, objectOf, type SchemaConverter, typesOf } from "./schema.ts";

/** The part of an imported tool that concerns the request body: the arguments for the body, and the body and headers of the request. */
export type ToolBody = {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly request: Pick<RequestDocument, "body" | "encoding">;
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

const isForm = (type: string) => /^application\/x-www-form-urlencoded\b/i.test(type);
const isBinary = (type: string) =>
  /^(?:multipart\/|application\/octet-stream|application\/(?:zip|pdf|gzip)|image\/|audio\/|video\/|\*\/\*)/i.test(type);

/**
 * Returns the request body of an operation as a part of the imported tool. If the body is an object, each of its fields becomes an
 * argument. If it is not an object, or a field has the name of another argument, the whole body is the argument `body`. Throws LeftOutError
 * if svc cannot send the body.
 */
export function bodyOf(root: DocumentNode, node: DocumentNode, { converter, others, onCut }: BodyOptions): ToolBody {
  const body = resolved(root, node["requestBody"]);
  const contents = Object.entries(objectOf(body["content"]));
  if (contents.length === 0) return { properties: {}, required: [], request: {}, headers: {} };
  const found = contents.find(([type]) => isJson(type)) ?? contents.find(([type]) => isForm(type));
  if (found === undefined) throw new LeftOutError(contents.some(([type]) => isBinary(type)) ? "upload" : "body_type");
  const [type, content] = found;
  const schema = withoutOverrides(converter.convert(resolved(root, content)["schema"] ?? {}, "body"), onCut);
  const made =
    sideBySide(schema, body["required"] === true, others) ?? wholeBody(schema, body["required"] === true, isForm(type));
  const request = { ...made.request, ...(isForm(type) && { encoding: "form" as const }) };
  const headers = isJson(type) && !/^application\/json\b/i.test(type) ? { "Content-Type": plainType(type) } : {};
  return { ...made, request, headers };
}

/**
 * Returns the schema of a request body without fields that change the HTTP method, such as `_method`. Calls `onCut` for each removed field.
 */
function withoutOverrides(schema: JsonSchema, onCut: BodyOptions["onCut"]): JsonSchema {
  const fields = Object.entries(objectOf(schema["properties"]));
  // With such a field, some servers would run another operation, which may have a more dangerous access class.
  const kept = fields.filter(([name]) => !isMethodOverride(name));
  if (kept.length === fields.length) return schema;
  for (const _ of fields.slice(kept.length)) onCut("method override");
  const required = listOf(schema["required"]).filter((name) => !isMethodOverride(String(name)));
  const { required: _required, ...others } = schema;
  return { ...others, properties: Object.fromEntries(kept), ...(required.length > 0 && { required }) };
}

/**
 * Returns a media type (such as `application/json`) without characters that a header or a template cannot contain, and with at most 200
 * characters.
 */
export function plainType(type: string): string {
  return type.replaceAll(/[^\x20-\x7e]|[{}]/g, "").slice(0, 200);
}

function sideBySide(
  schema: JsonSchema,
  isRequired: boolean,
  others: ToolArguments,
): Omit<ToolBody, "headers"> | undefined {
  const fields = Object.entries(objectOf(schema["properties"]));
  const isPlain = typesOf(schema)?.length === 1 && schema["type"] === "object" && schema["anyOf"] === undefined;
  if (!isPlain || fields.length === 0 || fields.some(([name]) => !isFree(name, others))) return undefined;
  const needed = new Set(listOf(schema["required"]));
  return {
    properties: Object.fromEntries(fields) as Record<string, JsonSchema>,
    required: isRequired ? fields.map(([name]) => name).filter((name) => needed.has(name)) : [],
    request: { body: Object.fromEntries(fields.map(([name]) => [name, `{{${placeOf(name)}}}`])) },
  };
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
