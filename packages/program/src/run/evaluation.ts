import { CelScalar, celEnv, celFunc, celMethod, isCelError, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { compileLinearRegExp, type LinearRegExp } from "@svc/catalog/patterns";
import { celLimits, rangesOf } from "../read/cel-syntax.ts";
import type { CelValues } from "./cel-values.ts";
import { containsSteps, matchesSteps, stepsOf } from "./cost.ts";

/**
 * The outcome of one evaluation: the answer, or why there is none, as a sentence without values. `isTooExpensive`: it was stopped,
 * or not begun, since it takes more than one evaluation may.
 */
export type CelOutcome = { readonly value: boolean } | { readonly error: string; readonly isTooExpensive?: boolean };

/** Steps that one evaluation may take: half a second at worst, some tens of milliseconds as a rule. */
const evaluationStepsMax = 50_000_000;

const tooExpensive: CelOutcome = {
  error: "takes more than one evaluation may: long texts, patterns and lists multiply",
  isTooExpensive: true,
};

/** Steps that the evaluation under way has left. Evaluating is synchronous, so one is enough for all. */
let stepsLeft = Number.POSITIVE_INFINITY;

/** The steps of an evaluation are spent. The evaluator takes it for an error like any other: `metered` tells the two apart. */
class StepsSpentError extends Error {}

/** Runs an evaluation with so many steps; whether they were enough, and what it used of them. */
export function metered<T>(
  stepsMax: number,
  evaluate: () => T,
): { readonly value: T; readonly isOver: boolean; readonly steps: number } {
  const before = stepsLeft;
  const traces = Error.stackTraceLimit;
  stepsLeft = stepsMax;
  // The evaluator's errors are values, one for each missing field: writing a trace takes longer than all the rest.
  Error.stackTraceLimit = 0;
  try {
    const value = evaluate();
    return { value, isOver: stepsLeft < 0, steps: stepsMax - stepsLeft };
  } finally {
    stepsLeft = before;
    Error.stackTraceLimit = traces;
  }
}

/** Takes steps before they are made. Once they are spent, everything that asks is refused at once, so that the evaluation ends. */
function take(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new StepsSpentError();
}

const patternsMax = 500;
const patterns = new Map<string, LinearRegExp>();

function patternOf(pattern: string): LinearRegExp {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const made = compileLinearRegExp(pattern);
  if (patterns.size >= patternsMax) patterns.clear();
  patterns.set(pattern, made);
  return made;
}

const { BOOL, INT, STRING } = CelScalar;

/**
 * What expressions are evaluated in: CEL's own functions, those that a long text makes long with a meter before them. The steps are
 * those of cost.ts, so that what was found cheap before is never stopped. A pattern is compiled once.
 */
export const meteredEnv = celEnv({
  funcs: [
    celMethod("matches", STRING, [STRING], BOOL, function (this: string, pattern: string) {
      take(matchesSteps(pattern, this.length));
      return patternOf(pattern).test(this);
    }),
    celMethod("contains", STRING, [STRING], BOOL, function (this: string, sought: string) {
      take(containsSteps(this.length, sought.length));
      return this.includes(sought);
    }),
    celFunc("size", [STRING], INT, (text: string) => countOf(text)),
    celMethod("size", STRING, [], INT, function (this: string) {
      return countOf(this);
    }),
  ],
});

/** Characters, of which one beyond the first plane is two units. */
function countOf(text: string): bigint {
  take(text.length * stepsOf.read);
  let count = 0;
  for (const _character of text) count++;
  return BigInt(count);
}

/**
 * Makes an evaluation of a tree: the outcomes for values, one after the other, up to the first that is no answer, or after which
 * `isOver`. An evaluation fails that walks through a list of more than 1,000 items, and one that asks for more than 50 million steps.
 * Whatever happens for each is in this file: it happens for each of a great many rows.
 */
export function evaluationOf(tree: Expr): (each: readonly CelValues[], isOver: () => boolean) => readonly CelOutcome[] {
  const run = plan(meteredEnv, tree);
  const ranges = rangesOf(tree).map((range) => plan(meteredEnv, range));
  const evaluate = (values: CelValues): CelOutcome => {
    for (const range of ranges) {
      const list = range(values);
      if (!isCelError(list) && sizeOf(list) > celLimits.listItems) {
        return { error: `walks through a list of more than ${celLimits.listItems} items` };
      }
    }
    const value = run(values);
    if (isCelError(value)) return { error: describeCelError(value.message) };
    if (typeof value !== "boolean") return { error: "is not true or false" };
    return { value };
  };
  return (each, isOver) => {
    const outcomes: CelOutcome[] = [];
    for (const values of each) {
      const { value, isOver: isSpent } = metered(evaluationStepsMax, () => evaluate(values));
      const outcome = isSpent ? tooExpensive : value;
      outcomes.push(outcome);
      if ("error" in outcome || isOver()) break;
    }
    return outcomes;
  };
}

/** The evaluator's messages quote values, which may be row data: what is told is the kind of the fault. */
function describeCelError(message: string): string {
  const [, told] = celErrors.find(([pattern]) => pattern.test(message)) ?? [];
  return told ?? "cannot be evaluated";
}

const celErrors: readonly (readonly [RegExp, string])[] = [
  [
    /field not found|no such (?:key|field)|undeclared|unknown (?:name|identifier|variable)|not found/i,
    "reads a field that is absent",
  ],
  [/overload/i, "applies an operation to values of types that it does not take"],
  [/convert|parse|invalid|timestamp|duration/i, "converts a value that has not the form for it"],
  [/divi|modul/i, "divides by zero"],
  [/overflow|range|out of bounds|index/i, "leaves the range of a number or of a list"],
];

function sizeOf(value: unknown): number {
  const size: unknown = typeof value === "object" && value !== null && "size" in value ? value.size : 0;
  return typeof size === "number" ? size : 0;
}
