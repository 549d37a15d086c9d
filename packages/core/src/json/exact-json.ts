import { measureJson } from "./json-size.ts";
import { isExactDouble } from "./number-text.ts";
import { rawJson } from "./raw-json.ts";

/** Levels that a JSON text may be nested; writing a value as JSON takes a frame of the stack a level. */
const depthMaxDefault = 500;

/** A JSON text of more values than may be read. */
export class JsonTooLargeError extends Error {
  override name = "JsonTooLargeError";
}

/** What may be read. `valuesMax`: values at most (default: no limit). `depthMax`: levels of nesting at most (default 500). */
export type ExactJsonOptions = { readonly valuesMax?: number; readonly depthMax?: number };

/**
 * Parses JSON without losing digits: a number that its double is not exactly, one beyond 2^53 - 1 and -0 become raw JSON values, which
 * JSON.stringify writes as they were. Ids of some apps are 64-bit integers, and amounts have digits that no double keeps. Throws SyntaxError, also for what is nested too deep, and JsonTooLargeError for too many
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
  if (!mayHoldRawNumber(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof value !== "number" || source === undefined || !isRaw(value, source)) return value;
    return rawJson(source);
  });
}

/** True if a number stays the text that it is: one whose digits go beyond 2^53 - 1 as well, since no double tells its neighbours apart. */
export function isRaw(value: number, source: string): boolean {
  if (Object.is(value, -0) || !isExactDouble(source, value)) return true;
  return Math.abs(value) > Number.MAX_SAFE_INTEGER && !longDouble.test(source);
}

const longDouble = /[eE]/;

/** So many digits, with their point, a double may not hold. */
const longDigits = 16;
/** With an exponent as long, a double may hold no digit at all. */
const longExponent = /\d[eE][+-]?\d{3}/;

/** Looks at every 16th character: one of so many digits in a row stands there. A pattern takes four times as long, for each post. */
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

/** Looks at every -0, of which dates have many, by what is around it. */
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

/** Of a code of UTF-16; true for NaN, before a text's start. */
function isBeforeNumber(code: number): boolean {
  return !(code > space) || code === comma || code === colon || code === openList;
}

const [point, slash, nine] = [46, 47, 57];

/** Of a code of UTF-16; false for NaN, beyond a text's ends. */
function isDigitOrPoint(code: number): boolean {
  return code >= point && code <= nine && code !== slash;
}
