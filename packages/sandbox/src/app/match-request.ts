import { type Action, isFieldWith, type Toolkit } from "@svc/catalog";
import type { AppRequest } from "@svc/connections";
import { isObject, parseExactJson, parseTemplate, type Template, type TemplateTree } from "@svc/core";
import { type AnyObject, type AppRefusal, badRequest, notFound } from "./refusal.ts";
import { Unifier } from "./unify.ts";

/** The contents of a request. `args`: the arguments from which the request was made. `body`: its JSON body. */
export type MatchedRequest = { readonly args: Readonly<Record<string, unknown>>; readonly body: unknown };

/**
 * Compares a request with the tool's definition: path, method, query, headers and JSON body. Each field must be in its declared place, and
 * undeclared fields are not allowed. Returns the arguments from which the request was made, or the error that the app would answer. It does
 * not check the credential. `credentialQuery`: the query parameters that contain the credential.
 */
export function matchRequest(
  toolkit: Toolkit,
  action: Action,
  request: AppRequest,
  { credentialQuery }: { credentialQuery: readonly string[] },
): MatchedRequest | AppRefusal {
  const url = URL.parse(request.url);
  if (url === null) return badRequest([`${request.url.slice(0, 80)} is not an address`]);
  const unifier = new Unifier(action.inputSchema);
  if (!matchPath(toolkit, action, url.pathname, unifier)) {
    return notFound(`there is nothing at ${url.pathname.slice(0, 200)}`);
  }
  if (request.method !== action.request.method) return methodNotAllowed(action.request.method, request.method);
  matchQuery([toolkit.always.query, action.request.query], url.searchParams, credentialQuery, unifier);
  matchHeaders([toolkit.always.headers, action.request.headers], request.headers, unifier);
  const body = matchBody(toolkit, action, request, unifier);
  checkArguments(action, unifier);
  return unifier.faults.length > 0 ? badRequest(unifier.faults) : { args: unifier.args, body };
}

/**
 * True if the path of a request fits the action's path template. The path may begin with the path of the app's base URL, or leave it out.
 */
function matchPath(toolkit: Toolkit, action: Action, pathname: string, unifier: Unifier): boolean {
  const own = segmentsOf(templateOf(action.request.path));
  const base = segmentsOf(parseTemplate(basePathOf(toolkit)));
  const given = pathname.split("/").slice(1);
  const templates = [own, [...base, ...own], [...base.slice(0, -1), ...own]].find(
    ({ length }, index) => length === given.length && (index === 0 || base.length > 0),
  );
  if (templates === undefined) return false;
  const trial = new Unifier(action.inputSchema);
  for (const [index, template] of templates.entries()) {
    const text = decodeSegment(given[index] ?? "");
    if (text === undefined || (text === "" && template.text !== "")) return false;
    trial.text(template, text, "path");
  }
  if (trial.faults.length > 0) return false;
  unifier.adopt(trial);
  return true;
}

function templateOf(tree: TemplateTree): Template {
  if (tree.kind === "text") return tree.template;
  const text = tree.kind === "constant" ? String(tree.value) : "";
  return { text, parts: [text] };
}

function basePathOf({ baseUrl }: Toolkit): string {
  const rest = baseUrl.replace(/^https?:\/\//, "");
  const slash = rest.indexOf("/");
  return slash < 0 ? "" : rest.slice(slash).replace(/\/$/, "");
}

/** Returns the segments of a path template: the templates between its slashes. The part before the first slash is left out. */
function segmentsOf({ text, parts }: Template): Template[] {
  if (text === "") return [];
  const segments: Template["parts"][number][][] = [[]];
  for (const part of parts) {
    if (typeof part !== "string") segments.at(-1)?.push(part);
    else {
      const [first = "", ...others] = part.split("/");
      if (first !== "") segments.at(-1)?.push(first);
      for (const piece of others) segments.push(piece === "" ? [] : [piece]);
    }
  }
  return segments.slice(1).map((pieces) => ({
    text: pieces.map((piece) => (typeof piece === "string" ? piece : `{{${piece.text}}}`)).join(""),
    parts: pieces.length === 0 ? [""] : pieces,
  }));
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // The text has invalid percent-encoding. decodeURIComponent throws for no other reason.
    return undefined;
  }
}

/**
 * Returns the fields that the tool's definition allows in a query, in the headers or in a body, by name. Several templates of the
 * definition can describe fields of the same object. If two templates describe a field of the same name, the later template is used.
 */
function fieldsOf(trees: readonly TemplateTree[]): Map<string, TemplateTree> {
  const fields = new Map<string, TemplateTree>();
  for (const tree of trees) {
    if (tree.kind === "object") for (const [name, item] of tree.entries) fields.set(name, item);
    else if (tree.kind === "constant" && isObject(tree.value)) {
      for (const [name, value] of Object.entries(tree.value)) fields.set(name, { kind: "constant", value });
    }
  }
  return fields;
}

function matchQuery(
  trees: readonly TemplateTree[],
  query: URLSearchParams,
  credentialQuery: readonly string[],
  unifier: Unifier,
): void {
  const fields = fieldsOf(trees);
  const deep = trees.flatMap((tree) => [...fields.keys()].filter((name) => isFieldWith("deep", tree, name)));
  const nested = readNestedForm([...query].filter(([name]) => deep.some((field) => name.startsWith(`${field}[`))));
  for (const name of new Set(query.keys())) {
    const isMember = deep.some((field) => name.startsWith(`${field}[`));
    if (!fields.has(name) && !isMember && !credentialQuery.includes(name))
      unifier.faults.push(`query parameter ${name} is not known here`);
  }
  for (const [name, tree] of fields) {
    if (deep.includes(name)) unifier.form(tree, nested[name], `query parameter ${name}`);
    else unifier.texts(tree, query.getAll(name), `query parameter ${name}`);
  }
}

function matchHeaders(trees: readonly TemplateTree[], headers: AppRequest["headers"], unifier: Unifier): void {
  for (const [name, tree] of fieldsOf(trees)) {
    const value = headerOf(headers, name);
    const isListed = tree.kind === "list" || (tree.kind === "constant" && Array.isArray(tree.value));
    const values = value === undefined ? [] : isListed ? value.split(", ") : [value];
    unifier.texts(tree, values, `header ${name}`);
  }
}

/** Returns a header by its name. Upper and lower case letters in the name count as equal. */
export function headerOf(headers: AppRequest["headers"], name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(headers).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

function matchBody(toolkit: Toolkit, action: Action, { headers, body }: AppRequest, unifier: Unifier): unknown {
  const always = fieldsOf([toolkit.always.body]);
  const own = action.request.body;
  if (body === undefined) {
    const isOptional = own === undefined || own.kind === "text" || action.request.emptyBody === "none";
    if (own !== undefined) unifier.json(own, undefined, "body");
    if (always.size > 0 || !isOptional) unifier.faults.push("body is required");
    return undefined;
  }
  if (own === undefined && always.size === 0) {
    unifier.faults.push("the call takes no body");
    return undefined;
  }
  const type = headerOf(headers, "content-type") ?? "none";
  if (action.request.encoding === "form") {
    if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type))
      unifier.faults.push(`content-type must be application/x-www-form-urlencoded, not ${type.slice(0, 80)}`);
    const form = new URLSearchParams(body);
    const repeated =
      own === undefined ? [] : [...new Set(form.keys())].filter((name) => isFieldWith("repeat", own, name));
    const lists = Object.fromEntries(repeated.map((name) => [name, form.getAll(name)]));
    const fields = { ...readNestedForm([...form]), ...lists };
    unifier.form(wholeBody(always, own), fields, "body");
    return fields;
  }
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    unifier.faults.push(`content-type must be application/json, not ${type.slice(0, 80)}`);
  }
  const value = parseBody(body);
  if (value === undefined) unifier.faults.push("body is not JSON");
  else unifier.json(wholeBody(always, own), emptied(own, value), "body");
  return value;
}

/** Returns the value that form fields with names such as `a[b][0]` describe. Every value in it is a text. */
function readNestedForm(fields: readonly (readonly [name: string, value: string])[]): AnyObject {
  const whole: Nested = new Map();
  for (const [name, value] of fields) {
    const [first = "", ...others] = name.split(/\]?\[|\]$/);
    const steps = [first, ...(name.endsWith("]") ? others.slice(0, -1) : others)];
    let node = whole;
    for (const step of steps.slice(0, -1)) {
      const held = node.get(step);
      const next: Nested = held instanceof Map ? held : new Map();
      node.set(step, next);
      node = next;
    }
    node.set(steps.at(-1) ?? "", value);
  }
  return Object.fromEntries([...whole].map(([name, value]) => [name, plainOf(value)]));
}

type Nested = Map<string, string | Nested>;

function plainOf(value: string | Nested): unknown {
  if (typeof value === "string") return value;
  const isList = [...value.keys()].every((key, index) => key === String(index));
  if (isList) return [...value.values()].map(plainOf);
  return Object.fromEntries([...value].map(([name, child]) => [name, plainOf(child)]));
}

function parseBody(body: string): unknown {
  try {
    return parseExactJson(body);
  } catch {
    // The text is not JSON, or is nested more deeply than in any call. JSON.parse throws for no other reason.
    return undefined;
  }
}

/** Returns undefined (missing) for an empty list if its template is a list, too. Returns any other value unchanged. */
function emptied(own: TemplateTree | undefined, value: unknown): unknown {
  // Such a list is empty only because the call gave no argument for any of its items.
  return own?.kind === "list" && Array.isArray(value) && value.length === 0 ? undefined : value;
}

function wholeBody(always: Map<string, TemplateTree>, own: TemplateTree | undefined): TemplateTree {
  if (own === undefined) return { kind: "object", entries: [...always] };
  if (always.size === 0) return own;
  const isFields = own.kind === "object" || (own.kind === "constant" && isObject(own.value));
  return isFields ? { kind: "object", entries: [...always, ...fieldsOf([own])] } : own;
}

/**
 * Adds a fault for each argument that does not fit the input schema, because real apps check values too. Does not check arguments that
 * arrived as text (for example in a query), because their JSON type is lost.
 */
function checkArguments(action: Action, { args, exact, faults }: Unifier): void {
  if (faults.length > 0) return;
  for (const { pointer, message } of action.validateInput(args)) {
    const [, name = ""] = pointer.split("/");
    if (exact.has(name.replaceAll("~1", "/").replaceAll("~0", "~"))) faults.push(`${pointer.slice(1)} ${message}`);
  }
}

/** Returns the refusal for a path that is called with the wrong method. */
function methodNotAllowed(allowed: string, used: string): AppRefusal {
  return { status: 405, headers: { allow: allowed }, faults: [`the path takes ${allowed}, not ${used}`] };
}
