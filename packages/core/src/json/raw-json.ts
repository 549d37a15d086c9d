// JSON with the functions `rawJSON` and `isRawJSON`. The runtime has them, but TypeScript's types do not include them yet.
const json = JSON as JSON & { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): boolean };

/** A number that a double cannot hold. It keeps its original digits, and JSON.stringify writes them unchanged. */
export type RawNumber = { readonly rawJSON: string };

/**
 * A JSON number that keeps all its digits. It is a plain number if a double can hold it. Otherwise it is a raw number, an object with the
 * number's text.
 */
export type JsonNumber = number | RawNumber;

/**
 * Returns a number that keeps all digits of its JSON text. Its `typeof` is "object": use `isObject` and `scalarText` to recognise it.
 * Throws SyntaxError if the text is a list, an object or not JSON.
 */
export function rawJson(text: string): RawNumber {
  return json.rawJSON(text);
}

/** True if a value was made by `rawJson`. False for plain numbers and all other values. */
export function isRawJson(value: unknown): value is RawNumber {
  // The prototype is checked first, because nearly every object has one and raw values have none.
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null && json.isRawJSON(value);
}

/**
 * True if a JSON value is a number. This includes a raw number: a number kept as JSON text, because a double cannot hold all its digits.
 */
export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || isRawJson(value);
}

/** Returns the double nearest to a number. Returns an infinity if the number is too large for a double. */
export function nearestDouble(number: JsonNumber): number {
  return typeof number === "number" ? number : Number(JSON.stringify(number));
}

/** Returns a string, number or boolean as text, with all digits of a number. Undefined for null, lists, objects and undefined. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isRawJson(value) ? JSON.stringify(value) : undefined;
}

/**
 * Returns the value with each raw number replaced by its nearest double. A raw number keeps all digits of its JSON text. Returns the same
 * value if it has no raw numbers.
 */
export function withPlainNumbers(value: unknown): unknown {
  return replaceRawNumbers(value, nearestDouble);
}

/** Maximum depth, in levels, to which svc searches a value for raw numbers. A deeper search could overflow the stack. */
const depthMax = 1_000;

/**
 * Returns a copy of a value in which `replace` has replaced each raw number, a JSON number kept as text. Returns the value itself if it
 * contains none. Raw numbers nested deeper than 1,000 levels stay.
 */
export function replaceRawNumbers(value: unknown, replace: (raw: RawNumber) => unknown): unknown {
  // The value is first searched for raw numbers (numbers kept as JSON text). It is copied only if there is one, because nearly all values
  // contain none.
  return isContainer(value) && holdsRaw(value, 0) ? replaceBelow(value, replace, 0) : value;
}

type Container = Readonly<Record<string, unknown>> | readonly unknown[];

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

/** True if the container holds a raw number, which is a JSON number kept as text. */
function holdsRaw(container: Container, depth: number): boolean {
  // Plain loops are fast. svc searches every incoming webhook post.
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
  // `Object.fromEntries` is used, because an assignment to a property named `__proto__` would change the prototype.
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replaceBelow(item, replace, depth + 1)]),
  );
}
