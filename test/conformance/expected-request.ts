import type { RenderedRequest } from "@svc/catalog";

/** The parts of a tool's file that say what its request is, as YAML holds them. */
export type RequestText = {
  readonly method: RenderedRequest["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** The parts of a toolkit's file that go into the request of every tool. */
export type AlwaysText = Pick<RequestText, "query" | "headers"> & { readonly body?: Readonly<Record<string, unknown>> };

/** The values that placeholders are replaced with: `params` and `account`. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Works out the request of a call from the definition files, independently of the renderer. An absent argument drops its field. An object
 * or a list that becomes empty by this is dropped too.
 */
export function expectedRequest(request: RequestText, always: AlwaysText, values: Values): RenderedRequest {
  const query = { ...fieldsOf(always.query, values), ...fieldsOf(request.query, values) };
  const headers = { ...fieldsOf(always.headers, values), ...fieldsOf(request.headers, values) };
  return {
    method: request.method,
    path: request.path.replaceAll(placeholder, (_text, path: string) =>
      encodeURIComponent(String(lookUp(path, values))),
    ),
    query: Object.entries(query).flatMap(([name, value]): RenderedRequest["query"] => {
      const joined = /^\{\{\s*([\w.$@-]+)\s*\|\s*csv\s*\}\}$/.exec(String(request.query?.[name]))?.[1];
      if (joined !== undefined) return [[name, String(value), [lookUp(joined, values)].flat().map(String)] as const];
      return [value].flat().map((item) => [name, String(item)] as const);
    }),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")])),
    body: expectedBody(request.body, always.body, values),
    form: undefined,
  };
}

/**
 * Lists the arguments that a request uses. If the request uses only a part of an argument, the name has the path of that part behind it.
 */
export function placedArguments(request: RequestText): readonly string[] {
  const { method: _method, ...parts } = request;
  const found = JSON.stringify(parts).matchAll(/\{\{\s*params\.([\w.$@-]+)/g);
  return [...found].map(([, path = ""]) => path);
}

const placeholder = /\{\{\s*([\w.$@-]+)\s*((?:\|[^|}]+)*)\}\}/g;

function expectedBody(body: unknown, always: AlwaysText["body"], values: Values): unknown {
  const common = fieldsOf(always, values);
  if (body === undefined) return Object.keys(common).length === 0 ? undefined : common;
  const own = fillIn(body, values) ?? (Array.isArray(body) ? [] : typeof body === "object" ? {} : undefined);
  if (Object.keys(common).length === 0) return own;
  if (own === undefined) return common;
  return Array.isArray(own) || typeof own !== "object" ? own : { ...common, ...own };
}

function fieldsOf(template: Values | undefined, values: Values): Values {
  return (fillIn(template ?? {}, values) ?? {}) as Values;
}

/** Fills the values into a template. Returns undefined if the template had placeholders and nothing is left of it. */
function fillIn(template: unknown, values: Values): unknown {
  if (typeof template === "string") return fillInText(template, values);
  if (typeof template !== "object" || template === null) return template;
  if (Array.isArray(template)) {
    const items = template.map((item) => fillIn(item, values)).filter((item) => item !== undefined);
    return items.length === 0 && template.length > 0 ? undefined : items;
  }
  const entries = Object.entries(template).map(([key, item]) => [key, fillIn(item, values)] as const);
  const given = entries.filter(([, item]) => item !== undefined);
  return given.length === 0 && entries.length > 0 ? undefined : Object.fromEntries(given);
}

function fillInText(text: string, values: Values): unknown {
  const found = [...text.replaceAll("{{{{", "\0\0\0\0").matchAll(placeholder)];
  const given = found.map(([, path = "", filters = ""]) => filter(lookUp(path, values), filters));
  if (given.includes(undefined)) return undefined;
  if (found.length === 1 && found[0]?.[0] === text) return given[0];
  let filled = "";
  let at = 0;
  for (const [index, match] of found.entries()) {
    filled += text.slice(at, match.index) + String(given[index]);
    at = match.index + match[0].length;
  }
  return found.length === 0 ? text.replaceAll("{{{{", "{{") : filled + text.slice(at);
}

function lookUp(path: string, values: Values): unknown {
  return path.split(".").reduce<unknown>((value, step) => (value as Values | undefined)?.[step], values);
}

function filter(value: unknown, filters: string): unknown {
  let result = value;
  for (const name of filters.split("|").map((word) => word.trim())) {
    if (name === "" || result === undefined) continue;
    const key = /^each\((.+)\)$/.exec(name)?.[1];
    if (key !== undefined) result = (result as unknown[]).map((item) => ({ [key]: item }));
    else if (name === "csv") result = [result].flat().join(",");
    else if (name === "json") result = JSON.stringify(result);
    else if (name === "int") result = Number(result);
    else throw new Error(`the filter ${name} has no place in a request`);
  }
  return result;
}
