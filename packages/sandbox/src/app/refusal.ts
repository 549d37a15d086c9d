import { isObject, parseExactJson } from "@svc/core";

/** The refusal of a request with unexpected content. The fault is the caller's, so it is a plain 4xx with a JSON body. */
export type AppRefusal = {
  readonly status: 400 | 401 | 404 | 405;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each fault, with its place: `body.title is required`. */
  readonly faults: readonly string[];
};

/** Returns the refusal of a request with faulty parts, with all faults at once. */
export function badRequest(faults: readonly string[]): AppRefusal {
  return { status: 400, faults };
}

/** Returns the refusal for a path that the app does not serve, or an object that does not exist. */
export function notFound(fault: string): AppRefusal {
  return { status: 404, faults: [fault] };
}

/** A JSON object. */
export type AnyObject = { readonly [key: string]: unknown };

/** The properties that a schema declares, in order. */
export function propertiesOf(schema: unknown): [string, AnyObject][] {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, child]) => [name, isObject(child) ? child : {}]);
}

/** The types that a schema allows; empty if it names none. */
export function typesOf(schema: unknown): readonly unknown[] {
  const type = isObject(schema) ? schema["type"] : undefined;
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

/** The item schema of a list; an empty schema if any item is allowed. */
export function itemsOf(schema: unknown): AnyObject {
  const items = isObject(schema) ? schema["items"] : undefined;
  return isObject(items) ? items : {};
}

const isJsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Reads a JSON number, boolean or text of a URL as the first type that the schema allows. */
export function readScalar(text: string, schema: unknown): unknown {
  const types = typesOf(schema);
  if (types.includes("string") || types.length === 0) return text;
  if ((types.includes("integer") || types.includes("number")) && text.trim() !== "" && !Number.isNaN(Number(text))) {
    return isJsonNumber.test(text) ? parseExactJson(text) : Number(text);
  }
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}
