/** Upper limits for the size of a value, with everything inside it. The maximum cost of an expression is computed from them. */
export type Extent = {
  /** Number of items of the longest list, or of fields of the largest object, in the value. */
  readonly items: number;
  /** Number of characters of the longest text in the value. For a text, its own number of characters. */
  readonly text: number;
  /** Approximate size of the whole value. Each value and each name in it counts 1, and every 16 characters of text count 1 more. */
  readonly total: number;
  /** Nesting depth of joined lists (`a + b`). Reading an item of such a list goes through all its parts. */
  readonly depth: number;
  /** For a list: the size of its largest item. Absent if only the size of the whole list is known. */
  readonly item?: Extent;
};

/** Size of a single value without parts: a number, a boolean, null or an absent value. */
export const scalar: Extent = { items: 0, text: 0, total: 1, depth: 0 };

/**
 * Maximum number of inner values that are counted to measure the size of one value. A value with more of them counts as unlimited, because
 * counting them all would take too long.
 */
const valuesMax = 100_000;

/** Number that stands for an unlimited size of a value. It is finite, because infinity multiplied by zero would not be zero. */
export const endlessly = 1e15;
const endless: Extent = { items: endlessly, text: endlessly, total: endlessly, depth: 0 };

const known = new WeakMap<object, Extent>();

/** Returns the extent (size) of a JSON value. The result is cached for each object and list, so they must not change afterwards. */
export function extentOf(value: unknown): Extent {
  if (typeof value === "string") return literal(value);
  if (typeof value !== "object" || value === null) return scalar;
  const found = known.get(value);
  if (found !== undefined) return found;
  const measured = { items: 0, text: 0, total: 0 };
  const extent = measure(value, measured) ? { ...measured, depth: 0 } : endless;
  const whole = Array.isArray(value) && extent !== endless ? { ...extent, item: largestOf(value) } : extent;
  known.set(value, whole);
  return whole;
}

/**
 * Sizes of the values that a path such as `row.a.b` reads. If `row` can be one of several rows, each size is the largest among these rows.
 */
export type PathExtent = {
  /**
   * A size that is large enough for every value that a path such as `row.a.b` can have. The first name of the path can stand for several
   * values, for example if it is the variable of a loop.
   */
  readonly extent: Extent;
  /** Maximum number of fields and items that the evaluator converts while it follows the path. */
  readonly items: number;
};

/** A chain of names in an expression. */
export type Chain = { readonly root: string; readonly path: readonly (string | number)[] };

/** The size that is assumed for a path such as `row.a.b` if no value has this path. */
export const nothingReached: PathExtent = { extent: scalar, items: 0 };

/**
 * Returns the size of the value at each path, such as `row.amount`. `rows`: the values for paths that start with `row`; the largest one
 * counts. `values`: the values for all other paths, by their first name.
 */
export function reachAll(
  chains: readonly Chain[],
  values: Readonly<Record<string, unknown>>,
  rows: readonly unknown[],
): readonly PathExtent[] {
  return chains.map(({ root, path }) => reach(root === "row" ? rows : [values[root]], path));
}

/**
 * Follows a chain of names (for example `.a.b`) from each starting value. Returns a size that is large enough for every value found. If no
 * value is found, returns `nothingReached`.
 */
function reach(starts: readonly unknown[], path: readonly (string | number)[]): PathExtent {
  let reached: PathExtent | undefined;
  for (const start of starts) {
    const next = reachOne(start, path);
    reached = reached === undefined ? next : largerOf(reached, next);
  }
  return reached ?? nothingReached;
}

function reachOne(start: unknown, path: readonly (string | number)[]): PathExtent {
  let value = start;
  let items = 0;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return { extent: scalar, items };
    value = (value as Readonly<Record<string | number, unknown>>)[name];
    if (typeof value === "object") items += extentOf(value).items;
  }
  return { extent: extentOf(value), items };
}

function largerOf(a: PathExtent, b: PathExtent): PathExtent {
  const items = Math.max(a.items, b.items);
  if (a.extent === b.extent) return { extent: a.extent, items };
  const either = largest(a.extent, b.extent);
  const hasItems = a.extent.item !== undefined || b.extent.item !== undefined;
  return { extent: hasItems ? { ...either, item: largest(itemOf(a.extent), itemOf(b.extent)) } : either, items };
}

function largest(a: Extent, b: Extent): Extent {
  return {
    items: Math.max(a.items, b.items),
    text: Math.max(a.text, b.text),
    total: Math.max(a.total, b.total),
    depth: Math.max(a.depth, b.depth),
  };
}

/** Returns the size (`Extent`) of a constant in an expression, such as a text. */
export function literal(value: unknown): Extent {
  const length = typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
  return length === 0 ? scalar : { items: 0, text: length, total: 1 + length / 16, depth: 0 };
}

/**
 * Returns an upper limit for the size of an item or field of a value: the size of the largest list item if it is known, or else that of the
 * whole value.
 */
export function itemOf(extent: Extent): Extent {
  return extent.item ?? { ...extent, depth: 0 };
}

type MeasureState = { items: number; text: number; total: number };

function largestOf(list: readonly unknown[]): Extent {
  const largest: MeasureState = { items: 0, text: 0, total: 1 };
  for (const item of list) {
    const measured = { items: 0, text: 0, total: 0 };
    measure(item, measured);
    largest.items = Math.max(largest.items, measured.items);
    largest.text = Math.max(largest.text, measured.text);
    largest.total = Math.max(largest.total, measured.total);
  }
  return { ...largest, depth: 0 };
}

/**
 * Adds the size of a value, and of all values inside it, to the sums in `measured`. Returns false and stops if the value is too large to be
 * counted, true otherwise.
 */
function measure(value: unknown, measured: MeasureState): boolean {
  measured.total++;
  if (typeof value === "string") {
    measured.text = Math.max(measured.text, value.length);
    measured.total += value.length / 16;
    return true;
  }
  if (typeof value !== "object" || value === null) return true;
  if (measured.total > valuesMax) return false;
  return Array.isArray(value) ? measureList(value, measured) : measureFields(value, measured);
}

function measureList(list: readonly unknown[], measured: MeasureState): boolean {
  measured.items = Math.max(measured.items, list.length);
  return list.length <= valuesMax && list.every((item) => measure(item, measured));
}

function measureFields(object: object, measured: MeasureState): boolean {
  let count = 0;
  for (const name in object) {
    count++;
    measure(name, measured);
    if (!measure((object as Readonly<Record<string, unknown>>)[name], measured)) return false;
  }
  measured.items = Math.max(measured.items, count);
  return true;
}
