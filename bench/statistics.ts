/** Several measurements of one quantity: their median, minimum and maximum. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

/** Returns the spread of at least one value. Throws RangeError if there is none. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const [min, max] = [sorted.at(0), sorted.at(-1)];
  if (min === undefined || max === undefined) throw new RangeError("a spread needs at least one value");
  const middle = sorted.length / 2;
  const lower = sorted[Math.ceil(middle) - 1] ?? min;
  const upper = sorted[Math.floor(middle)] ?? max;
  return { median: (lower + upper) / 2, min, max };
}
