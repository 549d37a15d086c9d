// The runtime has raw JSON (ECMAScript's JSON.parse source text access); the compiler's library does not know it yet.
const json = JSON as JSON & { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): boolean };

/** A number that no double holds, as the digits it was written with: JSON.stringify writes them again. */
export type RawNumber = { readonly rawJSON: string };

/** A number of JSON, with all its digits. */
export type JsonNumber = number | RawNumber;

/**
 * Makes a raw number of its JSON text. It stands among JSON values in the place of a number, and is none to `typeof`: `isObject` and
 * `scalarText` know it. Throws SyntaxError for what is no scalar of JSON.
 */
export function rawJson(text: string): RawNumber {
  return json.rawJSON(text);
}

/** Whether a value was made by `rawJson`. */
export function isRawJson(value: unknown): value is RawNumber {
  // Those alone, and dictionaries made as such, have no prototype: nearly every object needs no further look.
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null && json.isRawJSON(value);
}

/** Whether a JSON value is a number, raw or not. */
export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || isRawJson(value);
}

/** The double next to a number; infinite beyond them all. */
export function nearestDouble(number: JsonNumber): number {
  return typeof number === "number" ? number : Number(JSON.stringify(number));
}

/** A text, number or boolean as text, with all digits; undefined for null, lists, objects and undefined. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isRawJson(value) ? JSON.stringify(value) : undefined;
}

/**
 * The value with every raw number as its nearest double; the same value when it holds none. For what knows no raw JSON: schema
 * validation, and messages to other threads.
 */
export function withPlainNumbers(value: unknown): unknown {
  return replaceRawNumbers(value, nearestDouble);
}

/** Levels that are looked through. What is nested deeper can hardly be written as JSON again, and would end the stack here. */
const depthMax = 1_000;

/** The value with something else in the place of every raw number down to level 1,000; the same value when it holds none. */
export function replaceRawNumbers(value: unknown, replace: (raw: RawNumber) => unknown): unknown {
  // Nearly no value holds one, and to look costs a small part of what writing anew does.
  return isContainer(value) && holdsRaw(value, 0) ? replaceBelow(value, replace, 0) : value;
}

type Container = Readonly<Record<string, unknown>> | readonly unknown[];

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

/** Plain loops: every post that arrives is looked through. */
function holdsRaw(container: Container, depth: number): boolean {
  if (Array.isArray(container)) {
    for (const item of container) if (isContainer(item) && depth < depthMax && holdsRaw(item, depth + 1)) return true;
    return false;
  }
  if (isRawJson(container)) return true;
  const properties = container as Readonly<Record<string, unknown>>;
  for (const name in properties) {
    const child = properties[name];
    if (isContainer(child) && depth < depthMax && holdsRaw(child, depth + 1)) return true;
  }
  return false;
}

function replaceBelow(value: unknown, replace: (raw: RawNumber) => unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > depthMax) return value;
  if (isRawJson(value)) return replace(value);
  if (Array.isArray(value)) return value.map((item) => replaceBelow(item, replace, depth + 1));
  // Not by assignment: a property may be named __proto__.
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replaceBelow(item, replace, depth + 1)]),
  );
}
