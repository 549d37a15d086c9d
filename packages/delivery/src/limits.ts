import type { HealthLimits } from "@svc/db/subscriptions/health";

/** Limits of the delivery engine. Times are in milliseconds. */
export type DispatchLimits = {
  /** Maximum number of deliveries that one node sends to one subscription at the same time. */
  endpointConcurrency: number;
  /** Waits between the attempts of a delivery, in milliseconds. The first value is the wait after the first failed attempt, and so on. */
  retryScheduleMs: readonly number[];
  /** Maximum duration of an attempt in milliseconds. Default: 15 s. */
  attemptTimeoutMs?: number;
  /** Duration of a lease (time-limited claim of a delivery). If a node dies, its deliveries are delayed by this time. Default 30 s. */
  leaseMs?: number;
  /** Pause between two claims if nothing wakes the engine. Default 1 s. */
  pollMs?: number;
  /**
   * Limits for failing endpoints. Defaults: the backoff starts at 1 s and doubles up to 5 min. A subscription is deactivated after 5 days
   * of failures, or after at least 3 answers with 410 over at least one hour.
   */
  health?: HealthLimits;
  /**
   * Maximum number of pending deliveries of a subscription. A subscription with more is deactivated when an attempt fails. Default 100,000.
   */
  pendingMax?: number;
  /** Maximum number of attempts in flight on one node. Default 1,024. */
  inFlightMax?: number;
  /** Maximum number of deliveries that one node holds (in flight, waiting, or being recorded). Default 10,000. */
  heldMax?: number;
  /** Maximum total size of the bodies of all deliveries that this node has in memory, in bytes. Default 64 MiB. */
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
  pendingMax: 100_000,
  inFlightMax: 1_024,
  heldMax: 10_000,
  heldBytesMax: 64 * 1_048_576,
};

/** All limits, with defaults filled in. */
export type ResolvedLimits = Required<DispatchLimits>;

/** Returns the limits with defaults for those that are not given. */
export function resolveLimits(limits: DispatchLimits): ResolvedLimits {
  return { ...defaults, ...limits };
}
