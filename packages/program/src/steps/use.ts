/**
 * Numbers of calls, rows and questions that steps use. Fields that end with `Min`: the minimum in a run in which every `judge` step (a
 * question to a person) is answered with `proceed`. Fields that end with `Max`: the maximum in any run. Undo calls are not counted.
 */
export type Use = {
  readonly callsMin: number;
  readonly callsMax: number;
  readonly writesMax: number;
  readonly destructiveMax: number;
  readonly rowsMax: number;
  /** Minimum number of questions: those that the step asks in any case. */
  readonly asksMin: number;
  readonly asksMax: number;
};

/** The use (calls, rows, questions) of a step that makes no call and asks no question. */
export const noUse: Use = {
  callsMin: 0,
  callsMax: 0,
  writesMax: 0,
  destructiveMax: 0,
  rowsMax: 0,
  asksMin: 0,
  asksMax: 0,
};

/** Returns the sum of the uses (calls, rows, questions) of two parts of a program that both run. */
export function bothUses(a: Use, b: Use): Use {
  return combine(a, b, (one, other) => one + other);
}

/**
 * Returns the use (calls, rows, questions) of two parts of which only one runs. For calls, the smaller minimum and the larger maximum of
 * the two parts count. For rows and questions, the maxima of both parts are added, which is a safe upper bound.
 */
export function eitherUse(a: Use, b: Use): Use {
  return {
    ...combine(a, b, Math.max),
    callsMin: Math.min(a.callsMin, b.callsMin),
    rowsMax: a.rowsMax + b.rowsMax,
    asksMin: 0,
    asksMax: a.asksMax + b.asksMax,
  };
}

/** Returns the use (calls, rows, questions) of a part of a program that runs between 0 and `times` times. */
export function upTo(times: number, { callsMax, writesMax, destructiveMax, rowsMax, asksMax }: Use): Use {
  return {
    callsMin: 0,
    callsMax: times * callsMax,
    writesMax: times * writesMax,
    destructiveMax: times * destructiveMax,
    rowsMax: times * rowsMax,
    asksMin: 0,
    asksMax: times * asksMax,
  };
}

function combine(a: Use, b: Use, join: (one: number, other: number) => number): Use {
  return {
    callsMin: join(a.callsMin, b.callsMin),
    callsMax: join(a.callsMax, b.callsMax),
    writesMax: join(a.writesMax, b.writesMax),
    destructiveMax: join(a.destructiveMax, b.destructiveMax),
    rowsMax: join(a.rowsMax, b.rowsMax),
    asksMin: join(a.asksMin, b.asksMin),
    asksMax: join(a.asksMax, b.asksMax),
  };
}
