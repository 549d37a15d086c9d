import {
  type CelFunc,
  type CelInput,
  type CelList,
  CelScalar,
  type CelValue,
  celFunc,
  celMethod,
  isCelList,
  isCelMap,
  isCelUint,
} from "@bufbuild/cel";
import { celLimits } from "../read/cel-calls.ts";
import { stepsOf, take } from "../run/cost-of-text.ts";
import { type Extent, literal, scalar } from "../run/extent.ts";
import type { CelKind, Signature } from "../types/cel-signature.ts";

/**
 * A function that expressions have beside those of CEL itself, spelled as its extension libraries spell it. With one number of arguments
 * it stands here once, whatever types they are of. Extents and values have the receiver first, where there is one.
 */
export type CelFunction = {
  /** With its namespace, such as `math.abs`. */
  readonly name: string;
  /** Whether it is called on a value. */
  readonly isMethod: boolean;
  /** Its arguments, the receiver apart. */
  readonly count: number;
  readonly signatures: readonly Signature[];
  /** Steps that it takes at most, beside being called and looking at what it is given. */
  steps(of: readonly Extent[]): number;
  /** How large its answer is at most. */
  extent(of: readonly Extent[]): Extent;
  /** Throws an Error for what it cannot take. */
  run(values: readonly CelValue[]): CelInput;
};

const { DYN } = CelScalar;

/** A function as the evaluator has it: its steps are taken before it runs. */
export function celFuncOf(form: CelFunction): CelFunc {
  const types = Array.from({ length: form.count }, () => DYN);
  const run = (values: readonly CelValue[]): CelInput => {
    take(form.steps(values.map(extentOfCel)));
    return form.run(values);
  };
  if (!form.isMethod) return celFunc(form.name, types, DYN, (...given: CelValue[]) => run(given));
  return celMethod(form.name, DYN, types, DYN, function (this: CelValue, ...given: CelValue[]) {
    return run([this, ...given]);
  });
}

type Measured = { items: number; text: number; total: number };

/** The extent of a value of the evaluator, as `extentOf` has it of JSON. Throws for a list of too many items. */
function extentOfCel(value: CelValue): Extent {
  if (typeof value === "string" || value instanceof Uint8Array) return literal(value);
  const measured = { items: 0, text: 0, total: 0 };
  measure(value, measured);
  return measured.total === 1 ? scalar : { ...measured, depth: 0 };
}

function measure(value: CelValue, measured: Measured): void {
  take(stepsOf.value);
  measured.total++;
  if (typeof value === "string" || value instanceof Uint8Array) {
    measured.text = Math.max(measured.text, value.length);
    measured.total += value.length / 16;
  } else if (isCelList(value)) {
    measured.items = Math.max(measured.items, value.size);
    for (const item of itemsOf(value)) measure(item, measured);
  } else if (isCelMap(value)) {
    measured.items = Math.max(measured.items, value.size);
    for (const [name, item] of value) {
      measure(name, measured);
      measure(item, measured);
    }
  }
}

/** The items of a list. Throws for more than any expression walks through. */
export function itemsOf(list: CelList): CelValue[] {
  if (list.size > celLimits.listItems)
    throw new Error(`out of bounds: a list of more than ${celLimits.listItems} items`);
  return [...list];
}

/** The value as a text. Throws for another. */
export function textOf(value: CelValue | undefined): string {
  if (typeof value !== "string") throw noOverload();
  return value;
}

/** The value as a list's items. Throws for another. */
export function listOf(value: CelValue | undefined): CelValue[] {
  if (!isCelList(value)) throw noOverload();
  return itemsOf(value);
}

/** The value as a whole number. Throws for another, and for a double, as CEL does. */
export function wholeOf(value: CelValue | undefined): number {
  if (typeof value === "bigint") return Number(value);
  if (isCelUint(value)) return Number(value.value);
  throw noOverload();
}

/** What the evaluator says where no function fits. */
export function noOverload(): Error {
  return new Error("found no matching overload");
}

/** What the evaluator says of a place that is not there. */
export function outOfBounds(): Error {
  return new Error("index out of bounds");
}

/** The extent of a text of so many characters. */
export function textExtent(text: number): Extent {
  return { items: 0, text, total: 1 + text / 16, depth: 0 };
}

/** The signature of a method: the kinds of its receiver, of its arguments, and what it gives. */
export function method(on: CelKind, takes: readonly CelKind[], gives: Signature["gives"]): Signature {
  return { on: [on], takes: takes.map((kind) => [kind]), gives };
}
