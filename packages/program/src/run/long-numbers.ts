import { isRawJson, nearestDouble, type RawNumber } from "@svc/core/raw-json";

// An expression reckons with doubles. A number of more digits is its nearest double there, and comes out as it went in: what is not
// computed loses nothing.

/** What doubles of an evaluation stand for; `unclear` for one that may be either of several numbers. */
type LongNumbers = ReadonlyMap<number, RawNumber | "unclear">;

const known = new WeakMap<object, LongNumbers>();

/** Those of the evaluation under way. Evaluating is synchronous, so one is enough for all. */
let current: LongNumbers | undefined;

/** Notes what the doubles among values stand for that were made of these JSON values, of which one or more hold such numbers. */
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

/** The number that a double stands for in the evaluation under way: undefined for itself, `unclear` where that cannot be told. */
export function longNumberOf(double: number): RawNumber | "unclear" | undefined {
  return current?.get(double);
}

type Found = { readonly raws: readonly RawNumber[]; readonly numbers: ReadonlySet<number> };

/** What was found in a value that stands beside many rows. */
const foundBefore = new WeakMap<object, Found>();

function foundIn(value: unknown): Found {
  const before = typeof value === "object" && value !== null ? foundBefore.get(value) : undefined;
  if (before !== undefined) return before;
  const found = { raws: [] as RawNumber[], numbers: new Set<number>() };
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "number") found.numbers.add(next);
    else if (isRawJson(next)) {
      // A zero with its sign is a double like any other.
      if (Object.is(nearestDouble(next), -0) && !/[1-9]/.test(JSON.stringify(next).split(/[eE]/)[0] ?? ""))
        found.numbers.add(0);
      else found.raws.push(next);
    } else if (typeof next === "object" && next !== null) for (const child of Object.values(next)) waiting.push(child);
  }
  if (typeof value === "object" && value !== null) foundBefore.set(value, found);
  return found;
}
