import { coreFaults } from "../faults/faults.ts";

/** A time as requests carry it. */
type RequestTime = { readonly seconds: bigint; readonly nanos: number };

/**
 * When a link ends, epoch milliseconds: as its request says, or `lifeMaxMs` from now where it says nothing. Throws invalid_argument
 * LINK_EXPIRY_INVALID for a time that is over or further away than that.
 */
export function linkExpiry(expiresAt: RequestTime | undefined, nowMs: number, lifeMaxMs: number): number {
  const latestMs = nowMs + lifeMaxMs;
  if (expiresAt === undefined) return latestMs;
  const ms = Number(expiresAt.seconds) * 1_000 + Math.floor(expiresAt.nanos / 1e6);
  if (ms > nowMs && ms <= latestMs) return ms;
  throw coreFaults.LINK_EXPIRY_INVALID(nowMs, latestMs);
}
