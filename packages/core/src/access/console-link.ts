import { coreFaults } from "../faults/faults.ts";

/** A time as in requests. */
type RequestTime = { readonly seconds: bigint; readonly nanos: number };

/**
 * Returns when a link expires, epoch milliseconds: the requested time, or `lifeMaxMs` from now if there is none. Throws invalid_argument
 * LINK_EXPIRY_INVALID for a time that is past or later than that.
 */
export function linkExpiry(expiresAt: RequestTime | undefined, nowMs: number, lifeMaxMs: number): number {
  const latestMs = nowMs + lifeMaxMs;
  if (expiresAt === undefined) return latestMs;
  const ms = Number(expiresAt.seconds) * 1_000 + Math.floor(expiresAt.nanos / 1e6);
  if (ms > nowMs && ms <= latestMs) return ms;
  throw coreFaults.LINK_EXPIRY_INVALID(nowMs, latestMs);
}
