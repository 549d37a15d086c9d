import {
  formatValue,
  isObject,
  methodOverrideOf,
  renderTemplate,
  renderTemplateTree,
  scalarText,
  type TemplateScope,
  TemplateValueError,
} from "@svc/core";
import type { Action, Toolkit } from "../model.ts";
import { isPlainPath } from "./base-url.ts";

/** A request as the definition declares it, before host and credential. `path` is encoded; `query` is ordered and may repeat names. */
export type RenderedRequest = {
  readonly method: Action["request"]["method"];
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  /** JSON body; undefined if the call has none. */
  readonly body: unknown;
};

/** An argument that passes its schema but cannot be part of the request. The message is for the caller. */
export class RequestValueError extends Error {
  override name = "RequestValueError";
}

/**
 * Builds the request of a call. `params`: arguments that satisfy the input schema, with defaults. `account`: variables of the connected
 * account. The toolkit's common values come first, and the tool's own values win. Throws RequestValueError.
 */
export function renderRequest(
  toolkit: Pick<Toolkit, "always">,
  { request }: Pick<Action, "request">,
  scope: { readonly params: Readonly<Record<string, unknown>>; readonly account: Readonly<Record<string, string>> },
): RenderedRequest {
  try {
    const rendered = {
      method: request.method,
      path: renderPath(request.path, scope),
      query: [...renderQuery(toolkit.always.query, request.query, scope)],
      headers: renderHeaders([toolkit.always.headers, request.headers], scope),
      body: renderBody(toolkit.always.body, request.body, scope),
    };
    assertMethod(rendered);
    return rendered;
  } catch (error) {
    if (error instanceof TemplateValueError) throw new RequestValueError(error.message, { cause: error });
    throw error;
  }
}

/**
 * The method determines the permission of a call. An argument whose fields are sent unchanged must not name a field that makes the app use
 * another method.
 */
function assertMethod({ query, headers, body }: RenderedRequest): void {
  const name = methodOverrideOf({ headers, query: query.map(([parameter]) => parameter), body });
  if (name !== undefined) {
    throw new RequestValueError(`the field ${formatValue(name)} would change the method of the call; leave it out`);
  }
}

type Tree = Action["request"]["path"];

/** Every placeholder is a segment or part of one, so its value cannot reach another path. */
function renderPath(tree: Tree, scope: TemplateScope): string {
  if (tree.kind === "constant") return String(tree.value);
  if (tree.kind !== "text") throw new TypeError("a request path is a text");
  const pieces = tree.template.parts.map((part) => {
    if (typeof part === "string") return part;
    const value = renderTemplate({ text: part.text, parts: [part] }, scope);
    return encodeSegment(part.text, value);
  });
  const path = pieces.join("");
  // A value may complete text of the definition: "%" and "2e", "." and ".".
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
 * True for `.` and `..`, plain or percent-encoded any number of times: proxies decode them and URL parsers resolve them (RFC 3986, 5.2.4).
 */
function isDotSegment(text: string): boolean {
  const plain = text.replaceAll(/%(?:25)*2e/gi, ".");
  return plain === "." || plain === "..";
}

function* renderQuery(always: Tree, own: Tree, scope: TemplateScope): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(fieldsOf([always, own], scope))) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null) continue;
      yield [name, requireScalar(`query parameter ${name}`, item)];
    }
  }
}

function renderHeaders(trees: readonly Tree[], scope: TemplateScope): Record<string, string> {
  // By lower-case name: the tool's spelling replaces the toolkit's, and no header is sent twice.
  const headers = new Map<string, readonly [string, string]>();
  for (const [name, value] of trees.flatMap((tree) => Object.entries(fieldsOf([tree], scope)))) {
    if (value === null) continue;
    const text = Array.isArray(value)
      ? value.map((item) => requireScalar(`header ${name}`, item)).join(", ")
      : requireScalar(`header ${name}`, value);
    // RFC 9110, 5.5: visible ASCII with inner spaces and tabs. A line break would start another header.
    if (!/^[\x20-\x7e\t]*$/.test(text)) {
      throw new RequestValueError(`header ${name} is ${formatValue(text)}; a header takes printable ASCII only`);
    }
    headers.set(name.toLowerCase(), [name, text]);
  }
  return Object.fromEntries(headers.values());
}

/** Merges fields by name; later trees win. */
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

/** A declared body without content is sent as an empty object or list, because apps expect JSON there. */
function renderBody(always: Tree, own: Tree | undefined, scope: TemplateScope): unknown {
  const common = renderTemplateTree(always, scope);
  const body = own === undefined ? undefined : (renderTemplateTree(own, scope) ?? emptyOf(own));
  if (!isObject(common) || Object.keys(common).length === 0) return body;
  if (body === undefined) return common;
  return isObject(body) ? { ...common, ...body } : body;
}

function emptyOf(tree: Tree): unknown {
  if (tree.kind === "object") return {};
  return tree.kind === "list" ? [] : undefined;
}
