import { isMethodOverride } from "@svc/core";
import { faultOfHeaderName } from "../check/known-names.ts";
import type { ActionDocument, JsonSchema } from "../read/documents.ts";
import { LeftOutError } from "./import-fault.ts";
import { type DocumentNode, resolved, withSiblings } from "./read.ts";
import { listOf, objectOf, type SchemaConverter, typesOf } from "./schema.ts";
import type { Operation } from "./select.ts";
import { safeText } from "./texts.ts";

/** Arguments of an imported tool, and the parts of its request that contain them: path, query and headers. */
export type ToolArguments = {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotency: ActionDocument["idempotency"];
  /** Why the operation's header for an idempotency key is a plain argument. Undefined if svc fills it, or if there is none. */
  readonly unfilledKey: string | undefined;
};

/** A parameter of an operation. `isField`: true if it is a field of an object in the query, and not declared on its own. */
type Parameter = { readonly name: string; readonly in: string; readonly node: DocumentNode; readonly isField?: true };

/** Maximum characters of the description of a tool's argument. A longer description in the imported document is cut. */
const textMax = 200;

/** Headers that do not become arguments of an imported tool, because svc sends them itself or OpenAPI does not count them as parameters. */
const ownHeaders = new Set("accept content-type authorization cookie user-agent content-length host".split(" "));

/**
 * How the parameters of a document become arguments. `credentials`: places in which svc sends the credential of an account, such as
 * `header x-api-key`, in lower case. `onCut`: called with the reason when a parameter is left out.
 */
type ParameterOptions = {
  readonly converter: SchemaConverter;
  readonly credentials: ReadonlySet<string>;
  readonly onCut: (reason: string) => void;
};

/**
 * Returns the arguments for the path, query and headers of an operation in an imported API document. Leaves out cookies, headers that svc
 * itself sends, and parameters that contain the credential. Throws LeftOutError if a required parameter is written in a way that svc cannot
 * send.
 */
export function parametersOf(
  root: DocumentNode,
  operation: Operation,
  { converter, credentials, onCut }: ParameterOptions,
): ToolArguments {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  const query: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const inPath = new Map<string, string>();
  let idempotency: ToolArguments["idempotency"];
  let unfilledKey: string | undefined;
  const add = (parameter: Parameter, filter: string, isRequired: boolean) => {
    const name = freeName(parameter, properties);
    const converted = converter.convert(schemaOf(root, parameter.node), parameter.name);
    const schema = parameter.node["deprecated"] === true ? withoutDefault(converted) : converted;
    const text = safeText(parameter.node["description"], textMax);
    if (text === undefined) onCut("flagged");
    const described = text !== undefined && text.length >= 3 ? { ...schema, description: text } : schema;
    properties[name] = parameter.in === "path" ? segmentSchema(described) : described;
    if (isRequired) required.push(name);
    return `{{params.${name}${filter}}}`;
  };
  const parameters = declaredParameters(root, operation).flatMap((one) => fieldsOf(one, converter));
  const isDeclared = (name: string) =>
    parameters.some((one) => one.in === "query" && one.isField !== true && one.name === name);
  for (const parameter of parameters) {
    const isRequired = parameter.node["required"] === true;
    if (isMethodOverride(parameter.name) && parameter.in !== "path") {
      onCut("method override");
      continue;
    }
    if (isUnsent(parameter, operation, credentials)) continue;
    // The query can have each name only once. A declared parameter goes before a field of an object.
    if (parameter.isField && (Object.hasOwn(query, parameter.name) || isDeclared(parameter.name))) {
      onCut(`query parameter ${parameter.name.slice(0, 60)}`);
      continue;
    }
    if (parameter.in === "header" && /idempotency/i.test(parameter.name)) {
      const form = keyFormOf(resolved(root, schemaOf(root, parameter.node)));
      if (!("lengthMax" in form)) {
        idempotency = { header: parameter.name, ...form };
        continue;
      }
      unfilledKey = `${parameter.name.slice(0, 60)} takes ${form.lengthMax} characters, too few for a key of svc`;
    }
    const filter = filterOf(root, parameter);
    if (filter === undefined) {
      if (isRequired) throw new LeftOutError("parameter_encoding");
      onCut(`${parameter.in} parameter ${parameter.name.slice(0, 60)}`);
    } else if (parameter.in === "path") inPath.set(parameter.name, add(parameter, filter, true));
    else if (parameter.in === "query") query[parameter.name] = add(parameter, filter, isRequired);
    else headers[parameter.name] = add(parameter, filter, isRequired);
  }
  const path = operation.path.replaceAll(/\{([^{}]+)\}/g, (_match, name: string) => {
    return inPath.get(name) ?? add({ name, in: "path", node: { schema: { type: "string" } } }, "", true);
  });
  return { properties, required, path: sentPath(path), query, headers, idempotency, unfilledKey };
}

/** Minimum characters of an idempotency key. Shorter keys of different calls could be equal, and the app would drop one of the calls. */
const keyLengthMin = 20;

type KeyForm = { readonly format?: "uuid"; readonly maxLength?: number } | { readonly lengthMax: number };

/**
 * Returns the form of the idempotency key that the schema of its header allows: a UUID, or a maximum length below that of svc's own keys.
 * `lengthMax`: the header takes so few characters that svc does not fill it.
 */
function keyFormOf({ format, maxLength }: DocumentNode): KeyForm {
  if (format === "uuid") return { format };
  if (typeof maxLength !== "number" || maxLength >= 64) return {};
  return maxLength < keyLengthMin ? { lengthMax: maxLength } : { maxLength: Math.floor(maxLength) };
}

/** Returns a schema without its default, which svc would otherwise send with each call. */
export function withoutDefault({ default: _default, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/**
 * Returns the path of a tool's request unchanged. Throws LeftOutError if svc cannot send the path, for example because it contains `?` or
 * `//`.
 */
function sentPath(path: string): string {
  const plain = path.replaceAll(/\{\{[^{}]*\}\}/g, "x");
  if (
    path.length > 2_000 ||
    /[?#\s\\]|\/\/|\/\.{1,2}(?:\/|$)/.test(plain) ||
    /[{}]/.test(plain) ||
    /%(?![0-9A-Fa-f]{2})/.test(plain)
  )
    throw new LeftOutError("parameter_encoding");
  return path;
}

/**
 * Returns the parameters of an operation in an OpenAPI document. A parameter that the operation declares replaces the parameter of the same
 * name and place that its path declares for all operations.
 */
function declaredParameters(root: DocumentNode, { item, node }: Operation): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const given of [...listOf(item["parameters"]), ...listOf(node["parameters"])].slice(0, 300)) {
    const parameter = withSiblings(given, resolved(root, given));
    const { name, in: place } = parameter;
    if (typeof name !== "string" || typeof place !== "string" || name === "" || name.length > 200) continue;
    found.set(`${place} ${name}`, { name, in: place, node: parameter });
  }
  return [...found.values()];
}

/**
 * Returns the fields of an object in the query as parameters of their own, because the style `form` writes each of them under its own name.
 * Returns any other parameter unchanged.
 */
function fieldsOf(parameter: Parameter, converter: SchemaConverter): readonly Parameter[] {
  const { in: place, node } = parameter;
  const { style = "form", explode = true } = node;
  if (place !== "query" || style !== "form" || explode !== true || node["content"] !== undefined) return [parameter];
  const whole = converter.wholeOf(node["schema"]);
  const fields = Object.entries(objectOf(whole["properties"]));
  if (fields.length === 0 || typesOf(whole)?.includes("object") !== true) return [parameter];
  const needed = node["required"] === true ? listOf(whole["required"]) : [];
  return fields
    .filter(([name, schema]) => name !== "" && name.length <= 200 && converter.wholeOf(schema)["readOnly"] !== true)
    .map(([name, schema]) => ({ name, in: place, node: { schema, required: needed.includes(name) }, isField: true }));
}

function isUnsent(
  { name, in: place }: Parameter,
  { path }: Operation,
  credentials: ParameterOptions["credentials"],
): boolean {
  if (credentials.has(`${place} ${name.toLowerCase()}`)) return true;
  if (place === "path") return !path.includes(`{${name}}`);
  if (place === "header") return ownHeaders.has(name.toLowerCase()) || faultOfHeaderName(name) !== undefined;
  return place !== "query" && place !== "querystring";
}

function schemaOf(root: DocumentNode, node: DocumentNode): unknown {
  const [content] = Object.values(objectOf(node["content"]));
  return node["schema"] ?? resolved(root, content)["schema"] ?? {};
}

/**
 * Returns the template filter with which svc writes a parameter's value, such as ` | csv` for a list. Empty if the value needs no filter.
 * Undefined if svc cannot write the value.
 */
function filterOf(root: DocumentNode, { in: place, node }: Parameter): string | undefined {
  // The whole query as one value (OpenAPI 3.2).
  if (place === "querystring") return undefined;
  const [type, ...others] = Object.keys(objectOf(node["content"]));
  if (type !== undefined) return others.length === 0 && /json/.test(type) && place !== "path" ? " | json" : undefined;
  const types = typesOf(resolved(root, node["schema"])) ?? [];
  const style = node["style"] ?? (place === "query" ? "form" : "simple");
  if (style === "deepObject") return place === "query" ? " | deep" : undefined;
  if (types.includes("object")) return undefined;
  if (!types.includes("array")) return style === "form" || style === "simple" ? "" : undefined;
  const items = typesOf(resolved(root, resolved(root, node["schema"])["items"])) ?? [];
  if (items.includes("object") || items.includes("array")) return undefined;
  if (style === "simple") return " | csv";
  return style === "form" ? (node["explode"] === false ? " | csv" : "") : undefined;
}

/**
 * Returns a name for a parameter's argument that no other argument of the tool has. The name consists of characters that a placeholder may
 * contain.
 */
function freeName({ name, in: place }: Parameter, taken: Readonly<Record<string, unknown>>): string {
  const plain = name.replaceAll(/[^\w-]+/g, "_").replaceAll(/^[_-]+|[_-]+$/g, "") || "value";
  const first = plain === "confirm" || plain === "body" ? `${plain}_${place}` : plain;
  for (const candidate of [first, `${first}_${place}`]) if (!Object.hasOwn(taken, candidate)) return candidate;
  throw new LeftOutError("parameter_encoding");
}

/**
 * Returns the schema of an argument that fills a segment of the request's path. The schema of a text, a number or a list stays unchanged.
 * Any other schema becomes that of a text.
 */
function segmentSchema(schema: JsonSchema): JsonSchema {
  const types = [schema["type"] ?? []].flat();
  const isSegment = types.length > 0 && types.every((type) => ["string", "integer", "number"].includes(String(type)));
  if (isSegment) return schema;
  if (types.includes("array")) return schema;
  return { type: "string", description: schema["description"] };
}
