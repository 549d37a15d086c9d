import { type CelInput, type CelValue, celList, celType, isCelList, isCelUint } from "@bufbuild/cel";
import { celLimits } from "../read/cel-calls.ts";
import { stepsOf } from "../run/cost-of-text.ts";
import { type Extent, scalar } from "../run/extent.ts";
import type { Signature } from "../types/cel-signature.ts";
import { type CelFunction, listOf, method, noOverload, outOfBounds, textOf, wholeOf } from "./function.ts";

// List functions as in CEL's extension library `lists`, for lists of at most 1,000 items. `sum` is taken from the list library of
// Kubernetes.

/** Returns the value by which an item is sorted. Only values of one type have an order. Throws if the item cannot be sorted. */
function orderOf(value: CelValue): string | number | bigint | boolean {
  if (typeof value === "object") {
    if (isCelUint(value)) return value.value;
    const { name } = celType(value);
    if (name !== "google.protobuf.Timestamp" && name !== "google.protobuf.Duration") throw noOverload();
    const { seconds, nanos } = (value as unknown as { readonly message: { seconds: bigint; nanos: number } }).message;
    return seconds * 1_000_000_000n + BigInt(nanos);
  }
  return value as string | number | bigint | boolean;
}

function sorted(items: readonly CelValue[]): CelValue[] {
  const kinds = new Set(items.map((item) => celType(item).name));
  if (kinds.size > 1) throw noOverload();
  const keyed = items.map((item) => ({ item, key: orderOf(item) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item);
}

/** Returns the items without duplicates. Equal numbers of different kinds (1 and 1.0) are duplicates, as with ==. */
function distinct(items: readonly CelValue[]): CelValue[] {
  const seen = new Map<string, CelValue>();
  for (const item of items) {
    const key = item === null ? null : orderOf(item);
    const isNumber = typeof key === "number" || typeof key === "bigint";
    const name = `${isNumber ? "number" : celType(item).name} ${String(key)}`;
    if (!seen.has(name)) seen.set(name, item);
  }
  return [...seen.values()];
}

function flat(items: readonly CelValue[], levels: number): CelValue[] {
  if (levels < 0) throw outOfBounds();
  if (levels === 0) return [...items];
  return items.flatMap((item) => (isCelList(item) ? flat(listOf(item), levels - 1) : [item]));
}

function total(items: readonly CelValue[]): CelInput {
  const [first] = items;
  if (first === undefined) return 0n;
  if (items.every((item) => typeof item === "number")) return items.reduce((sum, item) => sum + item, 0);
  if (!items.every((item) => typeof item === "bigint")) throw noOverload();
  const sum = items.reduce((all, item) => all + item, 0n);
  if (BigInt.asIntN(64, sum) !== sum) throw new Error("int overflow");
  return sum;
}

/** Returns the maximum size of a result that is never larger than the given list. */
const noLarger = ([list = scalar]: readonly Extent[]): Extent => ({ ...list, depth: 0 });
const walked = ([list = scalar]: readonly Extent[]) => list.total * stepsOf.value;
/** Returns the cost of sorting a list, in evaluation steps (units of work). Each value is compared about 20 times. */
const compared = ([list = scalar]: readonly Extent[]) => 20 * list.total * (stepsOf.value + 16 * stepsOf.character);

function onList(
  name: string,
  takes: Parameters<typeof method>[1],
  { gives = "first", ...own }: Pick<CelFunction, "run"> & Partial<CelFunction> & { gives?: Signature["gives"] },
): CelFunction {
  const signatures = [method("list", takes, gives)];
  return { name, isMethod: true, count: takes.length, signatures, steps: walked, extent: noLarger, ...own };
}

/** The functions of lists that svc adds to the expression language CEL. */
export const listFunctions: readonly CelFunction[] = [
  onList("sort", [], { steps: compared, run: ([list]) => celList(sorted(listOf(list)) as CelInput[]) }),
  onList("distinct", [], { steps: compared, run: ([list]) => celList(distinct(listOf(list)) as CelInput[]) }),
  onList("slice", ["int", "int"], {
    run([list, start, end]) {
      const items = listOf(list);
      const [from, to] = [wholeOf(start), wholeOf(end)];
      if (from < 0 || to > items.length || from > to) throw outOfBounds();
      return celList(items.slice(from, to) as CelInput[]);
    },
  }),
  onList("flatten", [], { gives: "list", run: ([list]) => celList(flat(listOf(list), 1) as CelInput[]) }),
  onList("flatten", ["int"], {
    gives: "list",
    run: ([list, levels]) => celList(flat(listOf(list), wholeOf(levels)) as CelInput[]),
  }),
  onList("sum", [], { gives: "dyn", extent: () => scalar, run: ([list]) => total(listOf(list)) }),
  {
    name: "reverse",
    isMethod: true,
    count: 0,
    signatures: [method("list", [], "first"), method("string", [], "string")],
    steps: ([value = scalar]) => walked([value]) + value.text * stepsOf.made,
    extent: noLarger,
    run([value]) {
      if (isCelList(value)) return celList(listOf(value).reverse() as CelInput[]);
      return Array.from(textOf(value)).reverse().join("");
    },
  },
  {
    name: "lists.range",
    isMethod: false,
    count: 1,
    signatures: [{ takes: [["int"]], gives: "list", items: { type: "integer" } }],
    steps: () => celLimits.listItems * stepsOf.value,
    extent: () => ({ items: celLimits.listItems, text: 0, total: 1 + celLimits.listItems, depth: 0 }),
    run([count]) {
      const length = wholeOf(count);
      if (length < 0 || length > celLimits.listItems) throw outOfBounds();
      return celList(Array.from({ length }, (_, index) => BigInt(index)));
    },
  },
];
