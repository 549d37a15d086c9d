import { type Fault, fault } from "./errors.ts";
import { isoTime } from "./time/iso-time.ts";

/** A link to the console where there is none. */
export function consoleOff(): Fault {
  return fault({
    code: "failed_precondition",
    reason: "CONSOLE_OFF",
    message: "this node serves no console",
    help: "Start the service with SVC_CONSOLE=on.",
  });
}

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
  throw fault({
    code: "invalid_argument",
    reason: "LINK_EXPIRY_INVALID",
    field: "expiresAt",
    message: `expiresAt is not between now, ${isoTime(nowMs)}, and ${isoTime(latestMs)}`,
    help: "Send a time in that range, or none for its end.",
  });
}
