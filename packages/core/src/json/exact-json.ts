import { measureJson, repeatsName } from "./json-size.ts";
import { isExactDouble } from "./number-text.ts";
import { rawJson } from "./raw-json.ts";

/** Default maximum nesting of a JSON text. There is a maximum, because JSON.stringify needs a stack frame for each level. */
export const jsonDepthMax = 500;

/** Error for a JSON text that has more values than the limit of the parser allows. */
export class JsonTooLargeError extends Error {
  override name = "JsonTooLargeError";
}

/**
 * Error for a JSON text in which an object has the same name twice. Two programs that read such a text might use different values of the
 * name.
 */
export class RepeatedNameError extends SyntaxError {
  override name = "RepeatedNameError";
  constructor() {
    super("an object repeats a name");
  }
}

/**
 * Limits of parsing. `valuesMax`: maximum number of values in the text (default: no limit). `depthMax`: maximum levels of nesting (default
 * 500). `hasUniqueNames`: true if an object that repeats a name is an error; otherwise the last value of the name counts.
 */
export type ExactJsonOptions = {
  readonly valuesMax?: number;
  readonly depthMax?: number;
  readonly hasUniqueNames?: true;
};

/**
 * Parses JSON without losing digits. Numbers that JSON.parse could change, such as 64-bit ids, become raw JSON values. JSON.stringify
 * writes these unchanged.
 * Throws:
 * - SyntaxError: the text is not JSON, or its nesting is too deep.
 * - JsonTooLargeError: there are too many values.
 * - RepeatedNameError: an object repeats a name, and `hasUniqueNames` is set.
 */
export function parseExactJson(text: string, options: ExactJsonOptions = {}): unknown {
  const { valuesMax = Number.POSITIVE_INFINITY, depthMax = jsonDepthMax } = options;
  // With unlimited depth, tens of thousands of levels may overflow the stack (RangeError).
  // JSON.parse accepts any depth of nesting, so the depth is measured before JSON.parse is called. Later code reads the value recursively
  // and cannot handle a very deep one.
  if (valuesMax !== Number.POSITIVE_INFINITY || depthMax !== Number.POSITIVE_INFINITY) {
    const { values, depth } = measureJson(text, valuesMax);
    if (values > valuesMax) throw new JsonTooLargeError(`JSON holds more than ${valuesMax} values`);
    if (depth > depthMax) throw new SyntaxError(`JSON is nested deeper than ${depthMax} levels`);
  }
  const value = parseKeepingNumbers(text);
  if (options.hasUniqueNames === true && repeatsName(text, value)) throw new RepeatedNameError();
  return value;
}

function parseKeepingNumbers(text: string): unknown {
  // Most texts have no number that must stay raw. They are parsed without a reviver, which would take several times as long.
  if (!mayHoldRawNumber(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof value !== "number" || source === undefined || !isRaw(value, source)) return value;
    return rawJson(source);
  });
}

/**
 * True if svc must keep the JSON text of a number, because a double would change the number. Also true for -0, and for numbers above
 * `Number.MAX_SAFE_INTEGER` without an exponent.
 */
export function isRaw(value: number, source: string): boolean {
  if (Object.is(value, -0) || !isExactDouble(source, value)) return true;
  return Math.abs(value) > Number.MAX_SAFE_INTEGER && !longDouble.test(source);
}

const longDouble = /[eE]/;

/** A number with at least this many characters may not fit exactly into a double. The decimal point counts as a character. */
const longDigits = 16;
/** Matches an exponent of at least three digits. With it, a number may be too large or too small for a double. */
const longExponent = /\d[eE][+-]?\d{3}/;

/**
 * True if a text may contain a number whose digits a double cannot keep. False if it certainly contains no such number. Only every 16th
 * character is checked, because a number of 16 characters or more includes one of them. A regular expression takes four times as long, and
 * svc checks every webhook post.
 */
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

/**
 * True if a text may contain -0 as a number. False if it certainly does not. Checks the characters around each "-0", because dates contain
 * many of them.
 */
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

/**
 * True if a number may begin after this character (a UTF-16 code). True also for NaN, which means the start of the text. False for any
 * other character.
 */
function isBeforeNumber(code: number): boolean {
  return !(code > space) || code === comma || code === colon || code === openList;
}

const [point, slash, nine] = [46, 47, 57];

/** True for the UTF-16 code of a digit or a point. False for NaN, which means a position outside the text. */
function isDigitOrPoint(code: number): boolean {
  return code >= point && code <= nine && code !== slash;
}
