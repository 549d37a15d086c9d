/**
 * Longest pause, in milliseconds, that svc makes up for. After a longer pause, it still processes only three seconds' worth of items at
 * once.
 */
const burstMs = 3_000;

/** State of a rate limit. `perSecond`: maximum items per second. `pacedAt`: time until which the rate is used up, in epoch milliseconds. */
type Pace = { readonly pacedAt: number; readonly perSecond: number };

/** Amount of work that a rate limit allows now. `count`: number of items, for example deliveries of a replay. */
export type Allowance = {
  readonly count: number;
  /** Returns the new value of `pacedAt` (time until which the rate is used up) if `used` items are processed now. In epoch milliseconds. */
  pacedAt(used: number): number;
  /** Time from which another item is allowed, in epoch milliseconds. It matters if `count`, the number allowed now, is 0. */
  readonly nextAt: number;
};

/** Returns how many items a rate allows now. It is for work that runs in steps, such as a throttled replay. */
export function allowanceOf({ pacedAt, perSecond }: Pace, nowMs: number): Allowance {
  const intervalMs = 1_000 / perSecond;
  const fromMs = Math.max(pacedAt, nowMs - Math.max(burstMs, intervalMs));
  return {
    count: Math.max(0, Math.floor((nowMs - fromMs) / intervalMs + 1e-9)),
    pacedAt: (used) => Math.round(fromMs + used * intervalMs),
    nextAt: Math.ceil(fromMs + intervalMs),
  };
}
