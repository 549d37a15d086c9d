import { type CelInput, type CelValue, isCelList, isCelUint } from "@bufbuild/cel";
import { scalar } from "../run/extent.ts";
import type { CelKind, Signature } from "../types/cel-signature.ts";
import { type CelFunction, itemsOf, noOverload } from "./function.ts";

// Functions for numbers, as in CEL's extension library `math`.

const numbers: readonly CelKind[] = ["int", "uint", "double"];

/**
 * Maximum number of arguments of math.greatest and math.least. More values can be passed as one list. Unlike the macros of the same names
 * in CEL, both are plain functions in svc.
 */
const argumentsMax = 8;

/** Returns a number that can be compared exactly with numbers of other kinds. Throws if the value is not a number. */
function comparable(value: CelValue | undefined): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (isCelUint(value)) return value.value;
  throw noOverload();
}

function choosing(name: string, isBetter: (a: number | bigint, b: number | bigint) => boolean): CelFunction[] {
  const choose = (values: readonly CelValue[]): CelInput => {
    const [first, ...others] = values;
    if (first === undefined) throw noOverload();
    let best = first;
    comparable(best);
    for (const other of others) if (isBetter(comparable(other), comparable(best))) best = other;
    return best;
  };
  return Array.from({ length: argumentsMax }, (_, index) => {
    const count = index + 1;
    const signature: Signature = { takes: Array.from({ length: count }, () => numbers), gives: givenBy(count) };
    const ofList: Signature[] = count === 1 ? [{ takes: [["list"]], gives: "dyn" }] : [];
    return {
      name,
      isMethod: false,
      count,
      signatures: [...ofKind(count), signature, ...ofList],
      steps: () => 0,
      extent: () => scalar,
      run: (values) => choose(count === 1 && isCelList(values[0]) ? itemsOf(values[0]) : values),
    };
  });
}

/**
 * Returns one signature for each kind of number. In each signature, all arguments and the result have this kind. `count`: number of
 * arguments.
 */
function ofKind(count: number): Signature[] {
  return numbers.map((kind) => ({ takes: Array.from({ length: count }, () => [kind]), gives: kind }));
}

function givenBy(count: number): Signature["gives"] {
  return count === 1 ? "first" : "dyn";
}

function ofDouble(name: string, gives: "double" | "bool", run: (value: number) => number | boolean): CelFunction {
  return {
    name,
    isMethod: false,
    count: 1,
    signatures: [{ takes: [["double"]], gives }],
    steps: () => 0,
    extent: () => scalar,
    run([value]) {
      if (typeof value !== "number") throw noOverload();
      return run(value);
    },
  };
}

function ofNumber(name: string, run: { double(value: number): number; whole(value: bigint): bigint }): CelFunction {
  return {
    name,
    isMethod: false,
    count: 1,
    signatures: [{ takes: [numbers], gives: "first" }],
    steps: () => 0,
    extent: () => scalar,
    run([value]) {
      if (typeof value === "number") return run.double(value);
      if (typeof value === "bigint") return run.whole(value);
      // An unsigned number is never negative, so it is its own absolute value.
      if (isCelUint(value)) return value;
      throw noOverload();
    },
  };
}

/** Rounds to the nearest integer. A half is rounded away from zero, as CEL does. */
function round(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}

/** The functions of numbers that svc adds to the expression language CEL. */
export const mathFunctions: readonly CelFunction[] = [
  ...choosing("math.greatest", (a, b) => a > b),
  ...choosing("math.least", (a, b) => a < b),
  ofDouble("math.ceil", "double", Math.ceil),
  ofDouble("math.floor", "double", Math.floor),
  ofDouble("math.round", "double", round),
  ofDouble("math.trunc", "double", Math.trunc),
  ofDouble("math.sqrt", "double", Math.sqrt),
  ofDouble("math.isNaN", "bool", Number.isNaN),
  ofDouble("math.isInf", "bool", (value) => !Number.isNaN(value) && !Number.isFinite(value)),
  ofDouble("math.isFinite", "bool", Number.isFinite),
  ofNumber("math.abs", { double: Math.abs, whole: (value) => (value < 0n ? -value : value) }),
  ofNumber("math.sign", { double: Math.sign, whole: (value) => BigInt(Math.sign(Number(value))) }),
];
