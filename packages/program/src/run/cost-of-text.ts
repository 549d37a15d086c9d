import { patternSteps } from "@svc/catalog/patterns";

/** Steps of about 10 ns for the parts of expressions. Each was measured, also for failures, and rounded up. */
export const stepsOf = {
  /** An evaluation of any expression. */
  evaluation: 400,
  /** A name, a constant, or a logical operator. */
  node: 50,
  /** A function or operator, which is looked up by the types of its arguments. */
  call: 200,
  /** A field or item that is converted to an evaluator's value, or compared with one. */
  value: 40,
  /** A character that a pattern reads, for each of its instructions. */
  pattern: 8,
  /** A character that is copied or compared. */
  character: 1 / 16,
  /** A character that is counted, or read as a number or a time. */
  read: 2,
  /** A character that a function makes or reads by itself. */
  made: 4,
  /** A text that is read as a time or a duration. */
  time: 1_000,
  /** A part of a time in a named zone; a number written by a format. */
  zone: 20_000,
  /** A digest, without its characters. */
  digest: 1_000,
};

/** Steps that are left for the current evaluation. Evaluation is synchronous, so one variable is enough. */
let stepsLeft = Number.POSITIVE_INFINITY;

/** Thrown when an evaluation has used its steps. The evaluator treats it like any other error; `meteredEach` distinguishes the two. */
class StepsSpentError extends Error {}

/**
 * Evaluates one value after another, each with so many steps, while `next` returns true. It is told if the steps were not enough, and how
 * many were used.
 */
export function meteredEach<V, T>(
  stepsMax: number,
  values: Iterable<V>,
  evaluate: (values: V) => T,
  goesOn: (value: T, isOver: boolean, steps: number) => boolean,
): void {
  const before = stepsLeft;
  const traces = Error.stackTraceLimit;
  // The evaluator's errors are values, one for each missing field. Writing a stack trace takes longer than everything else.
  Error.stackTraceLimit = 0;
  try {
    for (const each of values) {
      stepsLeft = stepsMax;
      const value = evaluate(each);
      if (!goesOn(value, stepsLeft < 0, stepsMax - stepsLeft)) return;
    }
  } finally {
    stepsLeft = before;
    Error.stackTraceLimit = traces;
  }
}

/** Takes steps before they are used. After the last one every further request fails at once, so that the evaluation ends. */
export function take(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new StepsSpentError();
}

/** Returns the steps of searching a text in another, by their lengths: at worst it is compared at every position. */
export function containsSteps(text: number, sought: number): number {
  return text * (1 + sought) * stepsOf.character;
}

/** Returns the steps of a pattern over a text of a length. */
export function matchesSteps(pattern: string, text: number): number {
  return patternSteps(pattern) * (text + 1) * stepsOf.pattern;
}
