import { CelScalar, celEnv, celFunc, celMethod } from "@bufbuild/cel";
import { compileLinearRegExp, type LinearRegExp } from "@svc/catalog/patterns";
import { containsSteps, matchesSteps, stepsOf } from "./cost.ts";

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
