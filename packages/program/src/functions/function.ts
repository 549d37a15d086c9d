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
 * A function that svc adds to those of the expression language CEL. A function that accepts one or two arguments is declared twice, once for
 * each number of arguments.
 */
export type CelFunction = {
  /** The name with its namespace, such as `math.abs`. */
  readonly name: string;
  /** True if the function is called on a value, as in `text.trim()`. False if all its values are in the parentheses. */
  readonly isMethod: boolean;
  /** Number of arguments in parentheses. For a method such as `text.trim()`, the value before the dot is not counted. */
  readonly count: number;
  readonly signatures: readonly Signature[];
  /**
   * Returns the maximum evaluation steps (units of work) of the function for arguments of these sizes. The steps of the call itself and of
   * reading its arguments are not included.
   */
  steps(of: readonly Extent[]): number;
  /** Returns the largest possible extent (size) of the result, for arguments of these sizes. */
  extent(of: readonly Extent[]): Extent;
  /**
   * Returns the function's result for these arguments. The first argument of `text.trim()` is `text`. Throws an Error if the function does
   * not accept the arguments.
   */
  run(values: readonly CelValue[]): CelInput;
};

const { DYN } = CelScalar;

/**
 * Returns the function in the form that the expression evaluator needs. Before each call, the returned function takes the evaluation steps
 * (units of work) of the call from the budget.
 */
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

/**
 * Returns the extent (size) of a value in the form that the expression evaluator uses. The result is the same as `extentOf` returns for
 * this value as JSON. Throws for a list with too many items.
 */
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

/** Returns the items of a list. Throws if there are more items than an expression may visit. */
export function itemsOf(list: CelList): CelValue[] {
  if (list.size > celLimits.listItems)
    throw new Error(`out of bounds: a list of more than ${celLimits.listItems} items`);
  return [...list];
}

/** Returns the value as a text. Throws if the value is not a text. */
export function textOf(value: CelValue | undefined): string {
  if (typeof value !== "string") throw noOverload();
  return value;
}

/** Returns the items of a value that is a list. Throws if it is not a list. */
export function listOf(value: CelValue | undefined): CelValue[] {
  if (!isCelList(value)) throw noOverload();
  return itemsOf(value);
}

/** Returns the value as a whole number. Throws for any other value and for a double, as CEL does. */
export function wholeOf(value: CelValue | undefined): number {
  if (typeof value === "bigint") return Number(value);
  if (isCelUint(value)) return Number(value.value);
  throw noOverload();
}

/**
 * Returns the error that a function throws for arguments that it does not accept. The message is the one that the expression evaluator
 * uses.
 */
export function noOverload(): Error {
  return new Error("found no matching overload");
}

/** Returns the error that a function throws for an index that does not exist. The message is the one that the expression evaluator uses. */
export function outOfBounds(): Error {
  return new Error("index out of bounds");
}

/** Returns the size (`Extent`) of a text, for the estimate of an expression's cost. `text`: number of characters. */
export function textExtent(text: number): Extent {
  return { items: 0, text, total: 1 + text / 16, depth: 0 };
}

/**
 * Returns the signature of a method that expressions can call. `on`: the type of the value on which it is called. `takes`: the types of its
 * arguments. `gives`: the type of its result.
 */
export function method(on: CelKind, takes: readonly CelKind[], gives: Signature["gives"]): Signature {
  return { on: [on], takes: takes.map((kind) => [kind]), gives };
}
