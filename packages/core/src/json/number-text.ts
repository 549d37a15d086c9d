/** Maximum number of significant digits in the shortest form of a double. */
const shortestMax = 17;

/** Number of digits that every double of usual size keeps. */
const keptAlways = 15;

/**
 * True if a JSON number is equal to the double's shortest form, as JSON.stringify writes it. True for `0.1` and `1E2`; false for
 * `0.1234567890123456789`, `1e-400` and `1e400`. Takes linear time.
 */
export function isExactDouble(text: string, double: number = Number(text)): boolean {
  // Nearly every number has at most 15 digits and a usual size; such a number is always exact.
  if (text.length <= keptAlways && Math.abs(double) > 1e-290 && Number.isFinite(double)) return true;
  const digits = decimalOf(text);
  return digits !== undefined && digits === decimalOf(String(double));
}

/**
 * Returns the decimal value of a number's text: its significant digits and the position of the first digit, without the sign. All spellings
 * of a number have the same result. Undefined if the text has more digits than the shortest form of any double, and for Infinity, which has
 * no digits.
 */
function decimalOf(text: string): string | undefined {
  const power = text.search(/[eE]/);
  const mantissa = text.slice(/^[+-]/.test(text) ? 1 : 0, power === -1 ? undefined : power);
  const point = mantissa.indexOf(".");
  const whole = point === -1 ? mantissa.length : point;
  // Loops instead of a regular expression: a pattern anchored at the end takes quadratic time.
  let first = 0;
  while (first < mantissa.length && !isSignificant(mantissa, first)) first++;
  let last = mantissa.length - 1;
  while (last > first && !isSignificant(mantissa, last)) last--;
  if (first === mantissa.length) return "0";
  if (last - first > shortestMax) return undefined;
  const place =
    (first < whole ? whole - first : whole - first + 1) + (power === -1 ? 0 : Number(text.slice(power + 1)));
  const digits = mantissa.slice(first, last + 1).replace(".", "");
  return /^\d+$/.test(digits) ? `${digits}e${place}` : undefined;
}

/** True if the character at a position is neither zero nor a point. */
function isSignificant(text: string, at: number): boolean {
  const character = text.charCodeAt(at);
  return character !== 48 && character !== 46;
}
