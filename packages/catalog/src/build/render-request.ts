import {
  formatValue,
  formFieldsOf,
  isObject,
  methodOverrideOf,
  placeholdersOf,
  renderTemplate,
  renderTemplateTree,
  scalarText,
  type TemplateFilter,
  type TemplateScope,
  TemplateValueError,
} from "@svc/core";
import type { Action, Toolkit } from "../model.ts";
import { isPlainPath } from "./base-url.ts";

/**
 * A field of a query or of a form. `items`: the texts that `value` joins by commas. Each of them is percent-encoded by itself, so that a
 * comma inside of a text differs from the commas between the texts. Undefined if `value` is one text.
 */
type RequestField = readonly [name: string, value: string, items?: readonly string[]];

/**
 * A request as the tool's definition declares it, still without host and credential. `path` is percent-encoded. `query` is in order and may
 * contain a name several times.
 */
export type RenderedRequest = {
  readonly method: Action["request"]["method"];
  readonly path: string;
  readonly query: readonly RequestField[];
  readonly headers: Readonly<Record<string, string>>;
  /** JSON value of the body; undefined if the call has none. */
  readonly body: unknown;
  /** Fields of the form as which the body is sent, in order. Undefined if the body is sent as JSON, or if there is none. */
  readonly form: readonly RequestField[] | undefined;
};

/** Error for an argument that satisfies its schema but cannot be part of the request. Its message is written for the caller of the tool. */
export class RequestValueError extends Error {
  override name = "RequestValueError";
}

/**
 * Returns the request of a call. `params`: arguments that satisfy the input schema, with defaults. `account`: variables of the connected
 * account. If the toolkit (all tools of the app) and the tool both set a field, the tool's value is used. Throws RequestValueError.
 */
export function renderRequest(
  toolkit: Pick<Toolkit, "always">,
  { request }: Pick<Action, "request">,
  scope: { readonly params: Readonly<Record<string, unknown>>; readonly account: Readonly<Record<string, string>> },
): RenderedRequest {
  try {
    const body = renderBody(toolkit.always.body, request, scope);
    const rendered = {
      method: request.method,
      path: renderPath(request.path, scope),
      query: [...renderQuery(toolkit.always.query, request.query, scope)],
      headers: renderHeaders([toolkit.always.headers, request.headers], scope),
      body,
      form: request.encoding === "form" && body !== undefined ? [...renderForm(body, request.body, scope)] : undefined,
    };
    assertMethod(rendered);
    return rendered;
  } catch (error) {
    if (error instanceof TemplateValueError) throw new RequestValueError(error.message, { cause: error });
    throw error;
  }
}

/**
 * Throws RequestValueError if the request has a field (such as `_method`) that makes some apps use another HTTP method than that of the
 * request. svc decides by the HTTP method what the call may do, so a caller must not change the method with an argument.
 */
function assertMethod({ query, headers, body }: RenderedRequest): void {
  const name = methodOverrideOf({ headers, query: query.map(([parameter]) => parameter), body });
  if (name !== undefined) {
    throw new RequestValueError(`the field ${formatValue(name)} would change the method of the call; leave it out`);
  }
}

type Tree = Action["request"]["path"];

/** Returns the path of the request. Each placeholder fills a segment or a part of one, so its value cannot lead to another path. */
function renderPath(tree: Tree, scope: TemplateScope): string {
  if (tree.kind === "constant") return String(tree.value);
  if (tree.kind !== "text") throw new TypeError("a request path is a text");
  const pieces = tree.template.parts.map((part) => {
    if (typeof part === "string") return part;
    const value = renderTemplate({ text: part.text, parts: [part] }, scope);
    return encodeSegment(part.text, value);
  });
  const path = pieces.join("");
  // A value can form a dot segment together with the text around it: "%" and "2e", or "." and ".".
  if (!isPlainPath(path)) throw new RequestValueError(`the path ${formatValue(path)} would leave the path of the call`);
  return path;
}

function encodeSegment(placeholder: string, value: unknown): string {
  const text = typeof value === "boolean" ? undefined : scalarText(value);
  if (text === undefined || text === "") {
    throw new RequestValueError(`{{${placeholder}}} is ${formatValue(value)}; a path segment is a text or a number`);
  }
  if (isDotSegment(text)) {
    throw new RequestValueError(`{{${placeholder}}} is ${formatValue(text)}, which would leave the path of the call`);
  }
  if (!text.isWellFormed()) {
    throw new RequestValueError(`{{${placeholder}}} is ${formatValue(text)}, which is not well-formed Unicode`);
  }
  return encodeURIComponent(text);
}

/**
 * True for `.` and `..`, plain or percent-encoded any number of times. Proxies decode such segments, and URL parsers resolve them (RFC
 * 3986, 5.2.4).
 */
function isDotSegment(text: string): boolean {
  const plain = text.replaceAll(/%(?:25)*2e/gi, ".");
  return plain === "." || plain === "..";
}

function* renderQuery(always: Tree, own: Tree, scope: TemplateScope): Generator<RequestField> {
  for (const [name, value] of Object.entries(fieldsOf([always, own], scope))) {
    const items = joinedItems(own, name, scope);
    if (isFieldWith("deep", own, name)) {
      if (value !== null) yield* formFieldsOf(name, value);
      continue;
    }
    if (items !== undefined && typeof value === "string") {
      yield [name, value, items];
      continue;
    }
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null) continue;
      yield [name, requireScalar(`query parameter ${name}`, item)];
    }
  }
}

/** Yields the fields of the form as which a body is sent. Throws RequestValueError if the body is not an object. */
function* renderForm(body: unknown, own: Tree | undefined, scope: TemplateScope): Generator<RequestField> {
  if (!isObject(body)) throw new RequestValueError(`the body is ${formatValue(body)}; a form takes an object`);
  for (const [name, value] of Object.entries(body)) {
    const items = own === undefined ? undefined : joinedItems(own, name, scope);
    if (items !== undefined && typeof value === "string") yield [name, value, items];
    else if (own !== undefined && Array.isArray(value) && isFieldWith("repeat", own, name))
      for (const item of value) yield* formFieldsOf(name, item);
    else yield* formFieldsOf(name, value);
  }
}

/**
 * True if the template of a query or form field uses the filter `wanted`. A filter changes how svc writes the value. The filter `deep`
 * writes one field for each member, such as `filter[state]`; `repeat` writes one field of the same name for each list item.
 */
export function isFieldWith(wanted: TemplateFilter["name"], fields: Tree, name: string): boolean {
  const tree = fieldOf(fields, name);
  if (tree?.kind !== "text") return false;
  return placeholdersOf(tree.template).some(({ filters }) => filters.some((filter) => filter.name === wanted));
}

function fieldOf(fields: Tree, name: string): Tree | undefined {
  return fields.kind === "object" ? fields.entries.find(([key]) => key === name)?.[1] : undefined;
}

/**
 * Returns the texts that the filter `csv` of a field joins by commas. Undefined if the field's last filter is another one, or if the field
 * has no value: a field that the toolkit sends with each request then keeps its value.
 */
function joinedItems(fields: Tree, name: string, scope: TemplateScope): readonly string[] | undefined {
  const tree = fieldOf(fields, name);
  const [only, ...others] = tree?.kind === "text" ? tree.template.parts : [];
  if (only === undefined || typeof only === "string" || others.length > 0) return undefined;
  if (only.filters.at(-1)?.name !== "csv") return undefined;
  const list = { ...only, filters: only.filters.slice(0, -1) };
  const value = renderTemplate({ text: only.text, parts: [list] }, scope);
  if (value === undefined) return undefined;
  return [value].flat().map((item) => scalarText(item) ?? "");
}

/** Returns the fields of a query or a form as text, percent-encoded. Throws URIError if a text is not well-formed Unicode. */
export function fieldsText(fields: RenderedRequest["query"]): string {
  const written = fields.map(([name, value, items = [value]]) => {
    return `${encodeURIComponent(name)}=${items.map(encodeURIComponent).join(",")}`;
  });
  return written.join("&");
}

function renderHeaders(trees: readonly Tree[], scope: TemplateScope): Record<string, string> {
  // The headers of the request, by lower-case name. A tool's header replaces the toolkit's header of the same name, because both have the
  // same key.
  const headers = new Map<string, readonly [string, string]>();
  for (const [name, value] of trees.flatMap((tree) => Object.entries(fieldsOf([tree], scope)))) {
    if (value === null) continue;
    const text = Array.isArray(value)
      ? value.map((item) => requireScalar(`header ${name}`, item)).join(", ")
      : requireScalar(`header ${name}`, value);
    // A header value may contain only visible ASCII, spaces and tabs (RFC 9110, 5.5). A line break would start another header.
    if (!/^[\x20-\x7e\t]*$/.test(text)) {
      throw new RequestValueError(`header ${name} is ${formatValue(text)}; a header takes printable ASCII only`);
    }
    headers.set(name.toLowerCase(), [name, text]);
  }
  return Object.fromEntries(headers.values());
}

/**
 * Returns the fields of the filled-in templates, by field name. Each tree is a template in the form of an object. If several templates have
 * the same field, the value of the last template is used.
 */
function fieldsOf(trees: readonly Tree[], scope: TemplateScope): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const tree of trees) Object.assign(fields, renderTemplateTree(tree, scope));
  return fields;
}

function requireScalar(place: string, value: unknown): string {
  const text = scalarText(value);
  if (text === undefined) {
    throw new RequestValueError(`${place} is ${formatValue(value)}; it takes a text, number or boolean`);
  }
  return text;
}

/**
 * Returns the body of a tool's request. It contains the fields that the toolkit adds to all its requests, and the fields that the tool
 * declares. If all fields of the declared body are left out, returns an empty object or list, because apps expect JSON. With `emptyBody`,
 * returns undefined instead.
 */
function renderBody(
  always: Tree,
  { body: own, emptyBody }: Pick<Action["request"], "body" | "emptyBody">,
  scope: TemplateScope,
): unknown {
  const common = renderTemplateTree(always, scope);
  const empty = own === undefined || emptyBody === "none" ? undefined : emptyOf(own);
  const body = own === undefined ? undefined : (renderTemplateTree(own, scope) ?? empty);
  if (!isObject(common) || Object.keys(common).length === 0) return body;
  if (body === undefined) return common;
  return isObject(body) ? { ...common, ...body } : body;
}

function emptyOf(tree: Tree): unknown {
  if (tree.kind === "object") return {};
  return tree.kind === "list" ? [] : undefined;
}
