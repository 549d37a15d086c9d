import type { ServerResponse } from "node:http";
import { LeastRecentlyUsed } from "@svc/core";
import { discardBody, mayBeLarge } from "../body/body.ts";
import { connectionOf } from "./connection-rings.ts";

/** Limits how fast svc answers refusals to requests without a key. */
export type RefusalPace = {
  /** Counts a refusal to an address. Returns the delay of the answer in milliseconds; 0 if it may be sent now. */
  take(address: string): number;
};

/**
 * Limits for sending refusals (error answers). `atOnce`: number of refusals that may be sent without delay after a pause. `perSecond`:
 * number of refusals that may be sent per second after these. `waitMaxMs`: maximum delay of a refusal in milliseconds.
 */
type Bounds = { readonly atOnce: number; readonly perSecond: number; readonly waitMaxMs: number };

/** Limits for sending refusals (error answers) to one client address. A refusal above the limits is delayed, by at most 10 s. */
const ofAddress: Bounds = { atOnce: 32, perSecond: 200, waitMaxMs: 10_000 };
/**
 * Limits of one node for sending refusals of requests, to all client addresses together. On a node with two cores, sending refusals at
 * these limits needs only part of one core.
 */
const ofNode: Bounds = { atOnce: 200, perSecond: 1_000, waitMaxMs: 1_000 };
const addressesMax = 10_000;

/**
 * Creates the limits of how many refusals a node sends per second: in total, and to each address. A refusal is the answer to a request
 * without a valid key.
 */
export function createRefusalPace(nowMs: () => number): RefusalPace {
  // Sending a refusal takes half a millisecond. Without a limit, a client that repeats its request at once could occupy the event loop.
  const addresses = new LeastRecentlyUsed<string, number>(addressesMax);
  let nodeMs = Number.NEGATIVE_INFINITY;
  return {
    take(address) {
      const now = nowMs();
      const own = nextAnswerAt(addresses.get(address), now, ofAddress);
      addresses.set(address, own);
      nodeMs = nextAnswerAt(nodeMs, now, ofNode);
      return Math.max(0, own - now, nodeMs - now);
    },
  };
}

/**
 * Returns the time in milliseconds at which the next refusal (error answer to a request without a valid key) may be sent. `beforeMs`: the
 * time that this function returned for the previous refusal.
 */
function nextAnswerAt(
  beforeMs = Number.NEGATIVE_INFINITY,
  nowMs: number,
  { atOnce, perSecond, waitMaxMs }: Bounds,
): number {
  const everyMs = 1_000 / perSecond;
  return Math.min(Math.max(beforeMs, nowMs - atOnce * everyMs) + everyMs, nowMs + waitMaxMs);
}

/**
 * Returns a promise that resolves when svc may send a refusal, or undefined if it may be sent now. While the refusal waits, the rest of the
 * request's body is discarded.
 */
export function untilRefused(res: ServerResponse): Promise<void> | undefined {
  const { req } = res;
  const waitMs = connectionOf(req.socket)?.refusalWaitMs(req) ?? 0;
  if (waitMs < 1) return undefined;
  if (mayBeLarge(req) && !req.complete) discardBody(req);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    res.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
