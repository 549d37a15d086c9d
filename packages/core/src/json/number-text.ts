/** So many significant digits the shortest form of a double has at most. */
const shortestMax = 17;

/** So many any double of usual size keeps. */
const keptAlways = 15;

/**
 * True if a JSON number is its double exactly: if its decimal value is that of the double's shortest form, which is what JSON.stringify
 * writes. `0.1` and `1E2` are; `0.1234567890123456789`, `1e-400` and `1e400` are not. Takes time linear in the text.
 */
export function isExactDouble(text: string, double: number = Number(text)): boolean {
  // Nearly every number: so few digits, and a size at which a double keeps as many.
  if (text.length <= keptAlways && Math.abs(double) > 1e-290 && Number.isFinite(double)) return true;
  const digits = decimalOf(text);
  return digits !== undefined && digits === decimalOf(String(double));
}

/**
 * The decimal value of a number, as its significant digits and the place of the first; the same for every way to write a number, its sign
 * apart. Undefined for more digits than a double's shortest form has, and for what has none of them: Infinity.
 */
function decimalOf(text: string): string | undefined {
  const power = text.search(/[eE]/);
  const mantissa = text.slice(/^[+-]/.test(text) ? 1 : 0, power === -1 ? undefined : power);
  const point = mantissa.indexOf(".");
  const whole = point === -1 ? mantissa.length : point;
  // Loops, since what the end of a text is matched with by a pattern takes the square of its length.
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

/** True if the character at a place is no zero and no point. */
function isSignificant(text: string, at: number): boolean {
  const character = text.charCodeAt(at);
  return character !== 48 && character !== 46;
}
