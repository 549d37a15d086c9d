/** Maximum unused time that is caught up on, milliseconds: it covers a late step, but not an hour without a node. */
const burstMs = 3_000;

/** A rate, and until when it is used up (epoch milliseconds). */
type Pace = { readonly pacedAt: number; readonly perSecond: number };

/** Work allowed now. */
export type Allowance = {
  readonly count: number;
  /** Returns until when the rate is used up after `used` items. */
  pacedAt(used: number): number;
  /** Earliest time for the next item, if none is allowed now. */
  readonly nextAt: number;
};

/** Returns how much work its rate allows now, for work that proceeds in steps. */
export function allowanceOf({ pacedAt, perSecond }: Pace, nowMs: number): Allowance {
  const intervalMs = 1_000 / perSecond;
  const fromMs = Math.max(pacedAt, nowMs - Math.max(burstMs, intervalMs));
  return {
    count: Math.max(0, Math.floor((nowMs - fromMs) / intervalMs + 1e-9)),
    pacedAt: (used) => Math.round(fromMs + used * intervalMs),
    nextAt: Math.ceil(fromMs + intervalMs),
  };
}
