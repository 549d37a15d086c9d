/** The largest size of a value. Its parts are no larger, so the extent of a list is also valid for its items. */
export type Extent = {
  /** Items of its longest list, fields of its largest object. */
  readonly items: number;
  /** Characters of its longest text. */
  readonly text: number;
  /** Number of its values and names, plus a sixteenth of its characters. */
  readonly total: number;
  /** Nesting of joined lists: reading an item goes through all of them. */
  readonly depth: number;
  /** For a list: the size of each single item. Absent if only the whole is known. */
  readonly item?: Extent;
};

/** A number, a boolean, null, or nothing. */
export const scalar: Extent = { items: 0, text: 0, total: 1, depth: 0 };

/** Number of values above which a value counts as unlimited, because counting on would take too long. */
const valuesMax = 100_000;

/** Larger than anything real. Not infinite, because its product with zero must be zero. */
export const endlessly = 1e15;
const endless: Extent = { items: endlessly, text: endlessly, total: endlessly, depth: 0 };

const known = new WeakMap<object, Extent>();

/** Returns the extent of a JSON value. Each object and list is measured once and must not change afterwards. */
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

/** The target of a chain of names in one of several values. */
export type PathExtent = {
  /** At least as large as each of the targets. */
  readonly extent: Extent;
  /** Most fields and items of the objects and lists on the way. */
  readonly items: number;
};

/** A chain of names in an expression. */
export type Chain = { readonly root: string; readonly path: readonly (string | number)[] };

/** Nothing. */
export const nothingReached: PathExtent = { extent: scalar, items: 0 };

/** Returns the targets of chains of names among values by name and, for `row`, in any one of several rows. */
export function reachAll(
  chains: readonly Chain[],
  values: Readonly<Record<string, unknown>>,
  rows: readonly unknown[],
): readonly PathExtent[] {
  return chains.map(({ root, path }) => reach(root === "row" ? rows : [values[root]], path));
}

/** Follows a chain of names from each of several values. A missing one counts as nothing. */
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

/** Returns the extent of a constant. */
export function literal(value: unknown): Extent {
  const length = typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
  return length === 0 ? scalar : { items: 0, text: length, total: 1 + length / 16, depth: 0 };
}

/** Returns the extent of an item of a list, or of a field of an object. */
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

/** Returns false if there is too much to measure. */
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
