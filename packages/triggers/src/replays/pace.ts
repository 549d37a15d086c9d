import type { ReplayRecord } from "@svc/db";

/** A step a second. */
export const stepMs = 1_000;
/** Time that was not used is made up for as far as this: a step that came late, and not an hour without a node. */
const burstMs = 3_000;

/** What may be queued now. */
export type Allowance = {
  readonly count: number;
  /** Until when the pace is used up once `used` of them are queued. */
  pacedAt(used: number): number;
  /** When the next one may be queued, where none may now. */
  readonly nextAt: number;
};

/** How many deliveries a replay may queue at a time, by its pace. */
export function allowanceOf(
  { pacedAt, perSecond }: Pick<ReplayRecord, "pacedAt" | "perSecond">,
  nowMs: number,
): Allowance {
  const fromMs = Math.max(pacedAt, nowMs - burstMs);
  return {
    count: Math.max(0, Math.floor(((nowMs - fromMs) * perSecond) / 1_000)),
    pacedAt: (used) => Math.round(fromMs + (used * 1_000) / perSecond),
    nextAt: fromMs + Math.ceil(1_000 / perSecond),
  };
}
