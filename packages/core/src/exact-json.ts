import { measureJson } from "./json-size.ts";
import { type JsonNumber, nearestDouble, rawJson } from "./raw-json.ts";

/** Levels that a JSON text may be nested; writing a value as JSON takes a frame of the stack a level. */
const depthMaxDefault = 500;

/** A JSON text of more values than may be read. */
export class JsonTooLargeError extends Error {
  override name = "JsonTooLargeError";
}

/** What may be read. `valuesMax`: values at most (default: no limit). `depthMax`: levels of nesting at most (default 500). */
export type ExactJsonOptions = { readonly valuesMax?: number; readonly depthMax?: number };

/**
 * Parses JSON without losing digits: a number beyond 2^53 - 1 becomes a raw JSON value, which JSON.stringify writes as it was.
 * Ids of some apps are 64-bit integers. Throws SyntaxError, also for what is nested too deep, and JsonTooLargeError for too many
 * values. With an unlimited depth, a text that is nested by tens of thousands of levels may end the stack: RangeError.
 */
export function parseExactJson(text: string, options: ExactJsonOptions = {}): unknown {
  const { valuesMax = Number.POSITIVE_INFINITY, depthMax = depthMaxDefault } = options;
  // The parser takes any depth; revivers, JSON.stringify and what walks the value do not.
  if (valuesMax !== Number.POSITIVE_INFINITY || depthMax !== Number.POSITIVE_INFINITY) {
    const { values, depth } = measureJson(text, valuesMax);
    if (values > valuesMax) throw new JsonTooLargeError(`JSON holds more than ${valuesMax} values`);
    if (depth > depthMax) throw new SyntaxError(`JSON is nested deeper than ${depthMax} levels`);
  }
  // A reviver costs several times the parsing, and most texts hold nothing that needs one.
  if (!mayHoldLongNumber(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    return isInexact(value) && context?.source !== undefined ? rawJson(context.source) : value;
  });
}

/** So many digits, with their point, a double may not hold. */
const longDigits = 16;
/** With an exponent as long, it may hold no number at all. */
const longExponent = /\d[eE]\+?\d{3}/;

/** Looks at every 16th character: one of so many digits in a row stands there. A pattern takes four times as long, for each post. */
function mayHoldLongNumber(text: string): boolean {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let before = at - 1;
    while (isDigitOrPoint(text.charCodeAt(before))) before -= 1;
    let after = at + 1;
    while (after - before <= longDigits && isDigitOrPoint(text.charCodeAt(after))) after += 1;
    if (after - before > longDigits) return true;
  }
  return longExponent.test(text);
}

const [point, slash, nine] = [46, 47, 57];

/** Of a code of UTF-16; false for NaN, beyond a text's ends. */
function isDigitOrPoint(code: number): boolean {
  return code >= point && code <= nine && code !== slash;
}

function isInexact(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * The sum of two numbers, raw ones among them: exact where both are whole, else that of their nearest doubles. Whole numbers of
 * more than 400 digits count as their nearest double too.
 */
export function addExactly(a: JsonNumber, b: JsonNumber): JsonNumber {
  // The common case: neither is raw, and nothing is lost.
  if (typeof a === "number" && typeof b === "number" && Math.abs(a + b) <= Number.MAX_SAFE_INTEGER) return a + b;
  const [left, right] = [wholeOf(a), wholeOf(b)];
  if (left === undefined || right === undefined) return nearestDouble(a) + nearestDouble(b);
  return wholeNumber(left + right);
}

/** Whether the first of two numbers, raw ones among them, is the smaller. */
export function isBelow(a: JsonNumber, b: JsonNumber): boolean {
  if (typeof a === "number" && typeof b === "number") return a < b;
  const [left, right] = [wholeOf(a), wholeOf(b)];
  if (left === undefined || right === undefined) return nearestDouble(a) < nearestDouble(b);
  return left < right;
}

/** A whole number as a JSON value: a number where a double holds it, else raw. */
export function wholeNumber(whole: bigint): JsonNumber {
  const number = Number(whole);
  return Number.isSafeInteger(number) ? number : rawJson(String(whole));
}

const wholePattern = /^-?\d{1,400}$/;

function wholeOf(value: JsonNumber): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  const text = JSON.stringify(value);
  return wholePattern.test(text) ? BigInt(text) : undefined;
}
