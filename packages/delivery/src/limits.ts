import type { HealthLimits } from "@svc/db/subscriptions/health";

/** Limits of the delivery engine, times in milliseconds. */
export type DispatchLimits = {
  /** Attempts in flight per subscription on one node. */
  endpointConcurrency: number;
  /** Waits between the attempts of a delivery. */
  retryScheduleMs: readonly number[];
  /** Longest duration of an attempt. Default 15 s. */
  attemptTimeoutMs?: number;
  /** Duration of a lease. A node that dies delays its deliveries for this long. Default 30 s. */
  leaseMs?: number;
  /** Pause between two claims if nothing wakes the engine. Default 1 s. */
  pollMs?: number;
  /** When a subscription is in backoff and when it is given up. Defaults: 1 s doubling to 5 min; 5 days; 410 for an hour, 3 times. */
  health?: HealthLimits;
  /** Attempts in flight on one node. Default 1,024. */
  inFlightMax?: number;
  /** Deliveries held (in flight, waiting, being recorded) on one node. Default 10,000. */
  heldMax?: number;
  /** Bytes of their bodies. Default 64 MiB. */
  heldBytesMax?: number;
};

const defaults = {
  attemptTimeoutMs: 15_000,
  leaseMs: 30_000,
  pollMs: 1_000,
  health: {
    backoffMinMs: 1_000,
    backoffMaxMs: 300_000,
    failingMaxMs: 5 * 86_400_000,
    goneMaxMs: 3_600_000,
    goneMin: 3,
  },
  inFlightMax: 1_024,
  heldMax: 10_000,
  heldBytesMax: 64 * 1_048_576,
};

/** All limits, with defaults filled in. */
export type ResolvedLimits = Required<DispatchLimits>;

/** Returns the given limits over the defaults. */
export function resolveLimits(limits: DispatchLimits): ResolvedLimits {
  return { ...defaults, ...limits };
}
