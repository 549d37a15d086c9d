/** Time that was not used is made up for as far as this: a step that came late, and not an hour without a node. */
const burstMs = 3_000;

/** Until when a pace is used up, epoch milliseconds, and how much it allows in a second. */
type Pace = { readonly pacedAt: number; readonly perSecond: number };

/** What may be done now. */
export type Allowance = {
  readonly count: number;
  /** Until when the pace is used up once `used` of it are done. */
  pacedAt(used: number): number;
  /** When the next one may be done, where none may now. */
  readonly nextAt: number;
};

/** How much work that goes on in steps may do at a time, by its pace. */
export function allowanceOf({ pacedAt, perSecond }: Pace, nowMs: number): Allowance {
  const intervalMs = 1_000 / perSecond;
  const fromMs = Math.max(pacedAt, nowMs - Math.max(burstMs, intervalMs));
  return {
    count: Math.max(0, Math.floor((nowMs - fromMs) / intervalMs + 1e-9)),
    pacedAt: (used) => Math.round(fromMs + used * intervalMs),
    nextAt: Math.ceil(fromMs + intervalMs),
  };
}
