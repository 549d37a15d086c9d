import { coreFaults } from "../faults/faults.ts";

/** A time in a request: seconds since the epoch, and nanoseconds. */
type RequestTime = { readonly seconds: bigint; readonly nanos: number };

/**
 * Returns when a link expires, in epoch milliseconds: the requested time, or `nowMs` plus `lifeMaxMs` if no time was requested. Throws
 * invalid_argument LINK_EXPIRY_INVALID if the requested time is in the past or after `nowMs` plus `lifeMaxMs`.
 */
export function linkExpiry(expiresAt: RequestTime | undefined, nowMs: number, lifeMaxMs: number): number {
  const latestMs = nowMs + lifeMaxMs;
  if (expiresAt === undefined) return latestMs;
  const ms = Number(expiresAt.seconds) * 1_000 + Math.floor(expiresAt.nanos / 1e6);
  if (ms > nowMs && ms <= latestMs) return ms;
  throw coreFaults.LINK_EXPIRY_INVALID(nowMs, latestMs);
}
