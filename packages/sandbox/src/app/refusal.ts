import { isObject, parseExactJson } from "@svc/core";

/**
 * The answer with which an emulated app refuses a request that does not have the expected content. The answer is a plain 4xx status with a
 * JSON body, because the caller made the mistake.
 */
export type AppRefusal = {
  readonly status: 400 | 401 | 404 | 405;
  readonly headers?: Readonly<Record<string, string>>;
  /** The faults, each with its position (for example `body.title is required`). */
  readonly faults: readonly string[];
};

/** Returns the answer with which an emulated app refuses a request that has faults. The answer lists all faults. */
export function badRequest(faults: readonly string[]): AppRefusal {
  return { status: 400, faults };
}

/** Returns the sandbox app's 404 answer for a path that the app does not serve, or an object that does not exist. */
export function notFound(fault: string): AppRefusal {
  return { status: 404, faults: [fault] };
}

/** A JSON object. */
export type AnyObject = { readonly [key: string]: unknown };

/** Returns the properties that a schema declares, in their order. */
export function propertiesOf(schema: unknown): [string, AnyObject][] {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, child]) => [name, isObject(child) ? child : {}]);
}

/** Returns the types that a schema allows. Returns an empty list if the schema names no type. */
export function typesOf(schema: unknown): readonly unknown[] {
  const type = isObject(schema) ? schema["type"] : undefined;
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

/** Returns the schema of a list's items. Returns an empty schema if any item is allowed. */
export function itemsOf(schema: unknown): AnyObject {
  const items = isObject(schema) ? schema["items"] : undefined;
  return isObject(items) ? items : {};
}

const isJsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Returns the value that a text in a URL stands for: a number, a boolean or a text. The first type that the schema allows and that fits the
 * text decides.
 */
export function readScalar(text: string, schema: unknown): unknown {
  const types = typesOf(schema);
  if (types.includes("string") || types.length === 0) return text;
  if ((types.includes("integer") || types.includes("number")) && text.trim() !== "" && !Number.isNaN(Number(text))) {
    return isJsonNumber.test(text) ? parseExactJson(text) : Number(text);
  }
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}
