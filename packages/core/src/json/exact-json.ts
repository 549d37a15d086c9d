import { measureJson } from "./json-size.ts";
import { isExactDouble } from "./number-text.ts";
import { rawJson } from "./raw-json.ts";

/** Maximum nesting of a JSON text; JSON.stringify needs one stack frame per level. */
const depthMaxDefault = 500;

/** A JSON text with more values than allowed. */
export class JsonTooLargeError extends Error {
  override name = "JsonTooLargeError";
}

/** Limits of parsing. `valuesMax`: maximum values (default: no limit). `depthMax`: maximum levels of nesting (default 500). */
export type ExactJsonOptions = { readonly valuesMax?: number; readonly depthMax?: number };

/**
 * Parses JSON without losing digits. Numbers that a double cannot hold exactly, numbers beyond 2^53 - 1, and -0 become raw JSON values,
 * which JSON.stringify writes unchanged. Some apps use 64-bit ids, and amounts with more digits than a double. Throws SyntaxError, also for
 * text nested too deep, and JsonTooLargeError for too many values. With unlimited depth, tens of thousands of levels may overflow the
 * stack: RangeError.
 */
export function parseExactJson(text: string, options: ExactJsonOptions = {}): unknown {
  const { valuesMax = Number.POSITIVE_INFINITY, depthMax = depthMaxDefault } = options;
  // The parser accepts any depth; revivers, JSON.stringify and recursive functions do not.
  if (valuesMax !== Number.POSITIVE_INFINITY || depthMax !== Number.POSITIVE_INFINITY) {
    const { values, depth } = measureJson(text, valuesMax);
    if (values > valuesMax) throw new JsonTooLargeError(`JSON holds more than ${valuesMax} values`);
    if (depth > depthMax) throw new SyntaxError(`JSON is nested deeper than ${depthMax} levels`);
  }
  // A reviver costs several times the parsing, and most texts do not need one.
  if (!mayHoldRawNumber(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof value !== "number" || source === undefined || !isRaw(value, source)) return value;
    return rawJson(source);
  });
}

/** True if a number must stay text, including numbers beyond 2^53 - 1, because a double cannot distinguish them from their neighbours. */
export function isRaw(value: number, source: string): boolean {
  if (Object.is(value, -0) || !isExactDouble(source, value)) return true;
  return Math.abs(value) > Number.MAX_SAFE_INTEGER && !longDouble.test(source);
}

const longDouble = /[eE]/;

/** From this number of digits, including the point, a double may be inexact. */
const longDigits = 16;
/** With such a long exponent, a double may lose all digits. */
const longExponent = /\d[eE][+-]?\d{3}/;

/** Checks every 16th character, which any number of that many digits must include. A pattern takes four times as long, for each post. */
function mayHoldRawNumber(text: string): boolean {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let before = at - 1;
    while (isDigitOrPoint(text.charCodeAt(before))) before -= 1;
    let after = at + 1;
    while (after - before <= longDigits && isDigitOrPoint(text.charCodeAt(after))) after += 1;
    if (after - before > longDigits) return true;
  }
  return longExponent.test(text) || mayHoldNegativeZero(text);
}

const negativeZero = /^[\s,:[]?-0(?:\.0*)?(?:[eE\s,\]}]|$)/;

/** Checks the context of every -0, because dates contain many. */
function mayHoldNegativeZero(text: string): boolean {
  for (let at = text.indexOf("-0"); at !== -1; at = text.indexOf("-0", at + 2)) {
    const next = text.charCodeAt(at + 2);
    if (isBeforeNumber(text.charCodeAt(at - 1)) && (next === point || !isDigitOrPoint(next))) {
      if (negativeZero.test(text.slice(Math.max(at - 1, 0)))) return true;
    }
  }
  return false;
}

const [space, comma, colon, openList] = [32, 44, 58, 91];

/** For a UTF-16 code; true for NaN, before a text's start. */
function isBeforeNumber(code: number): boolean {
  return !(code > space) || code === comma || code === colon || code === openList;
}

const [point, slash, nine] = [46, 47, 57];

/** For a UTF-16 code; false for NaN, beyond a text's ends. */
function isDigitOrPoint(code: number): boolean {
  return code >= point && code <= nine && code !== slash;
}
