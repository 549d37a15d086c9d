import { isRawJson, nearestDouble, type RawNumber } from "@svc/core/raw-json";

// Keeps the digits of long numbers. An expression computes with doubles, so a number with more digits becomes its nearest double. If the
// expression returns that double unchanged, the result has all the original digits.

/**
 * JSON numbers with too many digits for a double. The key is the double that replaces the number during an evaluation. The value is the
 * original number, or `unclear` if the double replaces several different numbers.
 */
type LongNumbers = ReadonlyMap<number, RawNumber | "unclear">;

const known = new WeakMap<object, LongNumbers>();

/**
 * The long numbers (numbers with more digits than a double holds) of the evaluation that runs now. Evaluation is synchronous, so one
 * variable is enough.
 */
let current: LongNumbers | undefined;

/**
 * Records which doubles in `values` replace numbers of `given` that have too many digits for a double. The results of expressions can then
 * contain the original numbers.
 */
export function noteLongNumbers(values: object, given: readonly unknown[]): void {
  const parts = given.map(foundIn);
  const found = new Map<number, RawNumber | "unclear">();
  for (const { raws } of parts) {
    for (const raw of raws) {
      const double = nearestDouble(raw);
      const other = found.get(double);
      const isSame = other === undefined || (other !== "unclear" && JSON.stringify(other) === JSON.stringify(raw));
      const isAlone = isSame && !parts.some(({ numbers }) => numbers.has(double));
      found.set(double, isAlone ? raw : "unclear");
    }
  }
  known.set(values, found);
}

/**
 * Prepares the evaluation of an expression with `values`, and must be called before it. The result then keeps all digits of long numbers,
 * which a double cannot hold.
 */
export function beginWith(values: object): void {
  current = known.get(values);
}

/**
 * Returns the original number that `double` replaces in the current evaluation, with all its digits. Undefined if there is none, and
 * `unclear` if there are several.
 */
export function longNumberOf(double: number): RawNumber | "unclear" | undefined {
  return current?.get(double);
}

type NumberFindings = { readonly raws: readonly RawNumber[]; readonly numbers: ReadonlySet<number> };

/**
 * Cache of the long numbers in a value. A long number has more digits than a double holds. Many rows share the same value, so each value is
 * searched only once.
 */
const foundBefore = new WeakMap<object, NumberFindings>();

function foundIn(value: unknown): NumberFindings {
  const before = typeof value === "object" && value !== null ? foundBefore.get(value) : undefined;
  if (before !== undefined) return before;
  const found = { raws: [] as RawNumber[], numbers: new Set<number>() };
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "number") found.numbers.add(next);
    else if (isRawJson(next)) {
      // A negative zero is an ordinary double, so it is not recorded as a long number.
      if (Object.is(nearestDouble(next), -0) && !/[1-9]/.test(JSON.stringify(next).split(/[eE]/)[0] ?? ""))
        found.numbers.add(0);
      else found.raws.push(next);
    } else if (typeof next === "object" && next !== null) for (const child of Object.values(next)) waiting.push(child);
  }
  if (typeof value === "object" && value !== null) foundBefore.set(value, found);
  return found;
}
