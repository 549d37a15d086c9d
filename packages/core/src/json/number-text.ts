/** Maximum number of significant digits in the shortest exact text of a double. */
const shortestMax = 17;

/** Number of significant digits that a double always keeps exactly, if the number is neither extremely large nor extremely small. */
const keptAlways = 15;

/**
 * True if a JSON number does not change when it becomes a double and JSON.stringify writes it. True for `0.1` and `1E2`. False for
 * `0.1234567890123456789`, `1e-400` and `1e400`. The time grows only with the length of the text.
 */
export function isExactDouble(text: string, double: number = Number(text)): boolean {
  // Nearly every number has at most 15 digits, and is neither extremely small nor infinite as a double. A double holds such a number
  // without loss.
  if (text.length <= keptAlways && Math.abs(double) > 1e-290 && Number.isFinite(double)) return true;
  const digits = decimalOf(text);
  return digits !== undefined && digits === decimalOf(String(double));
}

/**
 * Returns the value of a number's text as its significant digits and the position of the first digit. The sign is ignored, and all
 * spellings of a number give the same result. Returns undefined for Infinity, and if there are more digits than a double can need.
 */
function decimalOf(text: string): string | undefined {
  const power = text.search(/[eE]/);
  const mantissa = text.slice(/^[+-]/.test(text) ? 1 : 0, power === -1 ? undefined : power);
  const point = mantissa.indexOf(".");
  const whole = point === -1 ? mantissa.length : point;
  // Loops are used here, because a regular expression would take time in proportion to the square of the text's length.
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

/** True if the character at this position is a digit from 1 to 9. False for zero and the decimal point. */
function isSignificant(text: string, at: number): boolean {
  const character = text.charCodeAt(at);
  return character !== 48 && character !== 46;
}
