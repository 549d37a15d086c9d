/** What steps use: at least, of a run that every judge lets proceed, and at most. Undo calls do not count. */
export type Use = {
  readonly callsMin: number;
  readonly callsMax: number;
  readonly writesMax: number;
  readonly destructiveMax: number;
  readonly rowsMax: number;
  /** Questions that are asked whatever happens. */
  readonly asksMin: number;
  readonly asksMax: number;
};

/** The use of what neither calls nor asks. */
export const noUse: Use = {
  callsMin: 0,
  callsMax: 0,
  writesMax: 0,
  destructiveMax: 0,
  rowsMax: 0,
  asksMin: 0,
  asksMax: 0,
};

/** The use of both. */
export function bothUses(a: Use, b: Use): Use {
  return combine(a, b, (one, other) => one + other);
}

/** The use of one of the two. Rows and questions of both are counted. */
export function eitherUse(a: Use, b: Use): Use {
  return {
    ...combine(a, b, Math.max),
    callsMin: Math.min(a.callsMin, b.callsMin),
    rowsMax: a.rowsMax + b.rowsMax,
    asksMin: 0,
    asksMax: a.asksMax + b.asksMax,
  };
}

/** The use of something that is done up to so many times, or not at all. */
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
