import { patternSteps } from "@svc/catalog/patterns";

/**
 * Cost of the parts of expressions, in evaluation steps (units of work of about 10 ns). Each cost was measured, for successes and failures,
 * and rounded up.
 */
export const stepsOf = {
  /** Steps (units of about 10 ns) for one evaluation of any expression. */
  evaluation: 400,
  /** Steps (units of about 10 ns) for a name, a constant or a logical operator. */
  node: 50,
  /**
   * Evaluation steps (units of about 10 ns) for one call of a function or operator. They include the search for the variant that fits the
   * types of the arguments.
   */
  call: 200,
  /** Cost of one field or item that the evaluator of expressions converts or compares. The unit is a step of about 10 ns. */
  value: 40,
  /**
   * Cost of matching a text with a regular expression, in steps (units of about 10 ns). This number is multiplied by the characters of the
   * text and by the instructions of the compiled pattern.
   */
  pattern: 8,
  /** Steps (units of about 10 ns) for one character that is copied or compared. */
  character: 1 / 16,
  /** Cost of reading one character as part of a number or time, or of counting one character. The unit is a step of about 10 ns. */
  read: 2,
  /** Cost of one character that a function makes, or reads and processes, in evaluation steps (units of about 10 ns). */
  made: 4,
  /** Steps (units of about 10 ns) for one text that is read as a time or a duration. */
  time: 1_000,
  /** Steps (units of about 10 ns) for one look into a named time zone. Formatting one number costs the same. */
  zone: 20_000,
  /** Steps (units of about 10 ns) for one digest (hash), in addition to the steps for its characters. */
  digest: 1_000,
};

/**
 * Evaluation steps (units of work) that the current evaluation may still use. Evaluation is synchronous, so one variable is enough for all
 * evaluations.
 */
let stepsLeft = Number.POSITIVE_INFINITY;

/**
 * Thrown when an evaluation has used all its evaluation steps (units of work). The expression evaluator treats it as an ordinary error of
 * the expression. Only the function `meteredEach` distinguishes it.
 */
class StepsSpentError extends Error {}

/**
 * Evaluates values one after another, each with at most `stepsMax` evaluation steps (units of work). After each, calls `goesOn` with the
 * result, with true if the evaluation exceeded its maximum, and with the steps used. Ends when `goesOn` returns false.
 */
export function meteredEach<V, T>(
  stepsMax: number,
  values: Iterable<V>,
  evaluate: (values: V) => T,
  goesOn: (value: T, isOver: boolean, steps: number) => boolean,
): void {
  const before = stepsLeft;
  const traces = Error.stackTraceLimit;
  // The evaluator throws an error for each missing field, and only the message is used. Writing stack traces would take longer than all
  // other work, so it is switched off.
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
 * Takes evaluation steps (units of work) from the budget before the work is done. When the budget is empty, this and every further call
 * throws, so the evaluation ends.
 */
export function take(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new StepsSpentError();
}

/**
 * Returns the maximum evaluation steps (units of work) of searching one text in another. `text`, `sought`: their lengths. In the worst case
 * the sought text is compared at every position.
 */
export function containsSteps(text: number, sought: number): number {
  return text * (1 + sought) * stepsOf.character;
}

/** Returns the evaluation steps (units of work) for matching a text with a pattern. `text`: the length of the text. */
export function matchesSteps(pattern: string, text: number): number {
  return patternSteps(pattern) * (text + 1) * stepsOf.pattern;
}
