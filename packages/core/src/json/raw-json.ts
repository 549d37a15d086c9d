// The runtime supports raw JSON (ECMAScript's JSON.parse source text access); the compiler's library does not know it yet.
const json = JSON as JSON & { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): boolean };

/** A number that a double cannot hold, with its original digits: JSON.stringify writes them unchanged. */
export type RawNumber = { readonly rawJSON: string };

/** A number of JSON, with all its digits. */
export type JsonNumber = number | RawNumber;

/**
 * Makes a raw number from its JSON text. It takes a number's place in JSON values, but `typeof` is "object"; `isObject` and `scalarText`
 * recognize it. Throws SyntaxError if the text is not a JSON scalar.
 */
export function rawJson(text: string): RawNumber {
  return json.rawJSON(text);
}

/** True if a value was made by `rawJson`. */
export function isRawJson(value: unknown): value is RawNumber {
  // Only raw values and null-prototype objects lack a prototype, so nearly every object is decided here.
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null && json.isRawJSON(value);
}

/** True if a JSON value is a number, raw or not. */
export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || isRawJson(value);
}

/** Returns the double nearest to a number; infinite if it is beyond all doubles. */
export function nearestDouble(number: JsonNumber): number {
  return typeof number === "number" ? number : Number(JSON.stringify(number));
}

/** Returns a text, number or boolean as text, with all digits; undefined for null, lists, objects and undefined. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isRawJson(value) ? JSON.stringify(value) : undefined;
}

/**
 * Returns the value with every raw number as its nearest double; the same value if it has none. For code without raw JSON: schema
 * validation, and messages to other threads.
 */
export function withPlainNumbers(value: unknown): unknown {
  return replaceRawNumbers(value, nearestDouble);
}

/** Maximum levels searched. Deeper values can hardly be written as JSON, and would overflow the stack here. */
const depthMax = 1_000;

/** Returns the value with every raw number, down to level 1,000, replaced; the same value if it has none. */
export function replaceRawNumbers(value: unknown, replace: (raw: RawNumber) => unknown): unknown {
  // Nearly no value has one, and the search is much cheaper than a copy.
  return isContainer(value) && holdsRaw(value, 0) ? replaceBelow(value, replace, 0) : value;
}

type Container = Readonly<Record<string, unknown>> | readonly unknown[];

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

/** Plain loops for speed: every incoming post is searched. */
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
