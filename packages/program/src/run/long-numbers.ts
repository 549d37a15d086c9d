import { isRawJson, nearestDouble, type RawNumber } from "@svc/core/raw-json";

// An expression computes with doubles. A number with more digits is its nearest double there and comes out with all its digits, if it was
// not computed with.

/** The numbers that doubles of an evaluation represent. `unclear`: one of several numbers. */
type LongNumbers = ReadonlyMap<number, RawNumber | "unclear">;

const known = new WeakMap<object, LongNumbers>();

/** Those of the current evaluation. Evaluation is synchronous, so one variable is enough. */
let current: LongNumbers | undefined;

/** Records which doubles among values represent longer numbers of these JSON values. */
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

/** Begins an evaluation of these values. */
export function beginWith(values: object): void {
  current = known.get(values);
}

/** Returns the number that a double represents in the current evaluation: undefined for itself, `unclear` if unknown. */
export function longNumberOf(double: number): RawNumber | "unclear" | undefined {
  return current?.get(double);
}

type NumberFindings = { readonly raws: readonly RawNumber[]; readonly numbers: ReadonlySet<number> };

/** Findings for a value that is shared by many rows. */
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
      // A negative zero is an ordinary double.
      if (Object.is(nearestDouble(next), -0) && !/[1-9]/.test(JSON.stringify(next).split(/[eE]/)[0] ?? ""))
        found.numbers.add(0);
      else found.raws.push(next);
    } else if (typeof next === "object" && next !== null) for (const child of Object.values(next)) waiting.push(child);
  }
  if (typeof value === "object" && value !== null) foundBefore.set(value, found);
  return found;
}
