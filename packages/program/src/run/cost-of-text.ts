import { patternSteps } from "@svc/catalog/patterns";

/** Cost of the parts of expressions, in steps of about 10 ns. Each cost was measured, for successes and failures, and rounded up. */
export const stepsOf = {
  /** One evaluation of any expression. */
  evaluation: 400,
  /** A name, a constant, or a logical operator. */
  node: 50,
  /** A call of a function or operator: the evaluator finds it by the types of its arguments. */
  call: 200,
  /** A field or item: the evaluator converts it, or compares it with another. */
  value: 40,
  /** One character that a pattern reads, for each instruction of the pattern. */
  pattern: 8,
  /** A character that is copied or compared. */
  character: 1 / 16,
  /** A character that is counted, or read as a number or a time. */
  read: 2,
  /** One character that a function of this package makes or reads. */
  made: 4,
  /** A text that is read as a time or a duration. */
  time: 1_000,
  /** Reading a part of a time in a named time zone, or writing one number in a format. */
  zone: 20_000,
  /** One digest, in addition to the cost of its characters. */
  digest: 1_000,
};

/** Steps that the current evaluation may still use. Evaluation is synchronous, so one variable is enough. */
let stepsLeft = Number.POSITIVE_INFINITY;

/** Thrown when an evaluation has used all its steps. The evaluator treats it like any other error; `meteredEach` distinguishes it. */
class StepsSpentError extends Error {}

/**
 * Evaluates values one after another, each with the given number of steps, while `next` returns true. `next` gets each outcome, whether the
 * steps ran out, and how many steps were used.
 */
export function meteredEach<V, T>(
  stepsMax: number,
  values: Iterable<V>,
  evaluate: (values: V) => T,
  goesOn: (value: T, isOver: boolean, steps: number) => boolean,
): void {
  const before = stepsLeft;
  const traces = Error.stackTraceLimit;
  // The evaluator throws an error for each missing field, and only its message is used. Writing a stack trace would take longer than all
  // other work.
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

/**
 * Takes steps from the budget before the work is done. After the budget is empty, every further call throws at once, so the evaluation
 * ends.
 */
export function take(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new StepsSpentError();
}

/**
 * Returns the maximum steps of searching one text in another. `text`, `sought`: their lengths. In the worst case the sought text is
 * compared at every position.
 */
export function containsSteps(text: number, sought: number): number {
  return text * (1 + sought) * stepsOf.character;
}

/** Returns the steps of matching a pattern. `text`: the length of the text. */
export function matchesSteps(pattern: string, text: number): number {
  return patternSteps(pattern) * (text + 1) * stepsOf.pattern;
}
