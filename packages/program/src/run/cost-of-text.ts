import { patternSteps } from "@svc/catalog/patterns";

/** Steps of about 10 ns that the parts of expressions take, each measured where it fails as well, and taken dearly. */
export const stepsOf = {
  /** An evaluation, whatever it is of. */
  evaluation: 400,
  /** A name, a constant, an operator of logic. */
  node: 50,
  /** A function or operator, which is looked up by the types it is given. */
  call: 200,
  /** A field or item that is made into a value of the evaluator, or compared with one. */
  value: 40,
  /** A character that a pattern looks at, for each of its instructions. */
  pattern: 8,
  /** A character that is copied or compared. */
  character: 1 / 16,
  /** A character that is counted, or read as a number or a time. */
  read: 2,
  /** A character that a function makes or looks at by itself. */
  made: 4,
  /** A text that is read as a time or a duration. */
  time: 1_000,
  /** A part of a time in a zone that is named; a number that is written by a format. */
  zone: 20_000,
  /** A digest, beside its characters. */
  digest: 1_000,
};

/** Steps that the evaluation under way has left. Evaluating is synchronous, so one is enough for all. */
let stepsLeft = Number.POSITIVE_INFINITY;

/** The steps of an evaluation are spent. The evaluator takes it for an error like any other: `meteredEach` tells the two apart. */
class StepsSpentError extends Error {}

/**
 * Runs an evaluation for one value after another, each with so many steps, as long as what it came to goes on: which is told whether
 * they were not enough, and how many it took.
 */
export function meteredEach<V, T>(
  stepsMax: number,
  values: Iterable<V>,
  evaluate: (values: V) => T,
  goesOn: (value: T, isOver: boolean, steps: number) => boolean,
): void {
  const before = stepsLeft;
  const traces = Error.stackTraceLimit;
  // The evaluator's errors are values, one for each missing field: writing a trace takes longer than all the rest.
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

/** Takes steps before they are made. Once they are spent, everything that asks is refused at once, so that the evaluation ends. */
export function take(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new StepsSpentError();
}

/** Steps of searching a text of a length for one of another: at worst it is compared at every place. */
export function containsSteps(text: number, sought: number): number {
  return text * (1 + sought) * stepsOf.character;
}

/** Steps of a pattern over a text of a length. */
export function matchesSteps(pattern: string, text: number): number {
  return patternSteps(pattern) * (text + 1) * stepsOf.pattern;
}
