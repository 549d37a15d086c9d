/**
 * Maximum time in milliseconds for which unused rate is kept. Work that is late by up to this time can catch up. If no node ran for an
 * hour, svc starts with the items of 3 seconds, and then continues at the normal rate.
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
