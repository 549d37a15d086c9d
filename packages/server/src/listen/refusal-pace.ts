import type { ServerResponse } from "node:http";
import { LeastRecentlyUsed } from "@svc/core";
import { discardBody, mayBeLarge } from "../body/body.ts";
import { connectionOf } from "./connection-rings.ts";

/** The pace at which requests without a key are refused. */
export type RefusalPace = {
  /** Counts a refusal of an address, and returns after how long it is to be answered, milliseconds: 0 for at once. */
  take(address: string): number;
};

/** How many are answered: so many at once, then so many a second. A refusal waits `waitMaxMs` at most. */
type Bounds = { readonly atOnce: number; readonly perSecond: number; readonly waitMaxMs: number };

/** Of one address. Only who has two thousand requests under way waits for as long as that. */
const ofAddress: Bounds = { atOnce: 32, perSecond: 200, waitMaxMs: 10_000 };
/** Of all addresses: what costs a node of two cores a part of one. */
const ofNode: Bounds = { atOnce: 200, perSecond: 1_000, waitMaxMs: 1_000 };
const addressesMax = 10_000;

/**
 * Makes the pace of a node. A refusal costs half a millisecond, and who sends the next request once the one before is refused would have all
 * of the event loop for nothing. What waits holds its connection and nothing else. Requests with a valid key never wait here, and a
 * refusal takes nothing from another address.
 */
export function createRefusalPace(nowMs: () => number): RefusalPace {
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

/** Returns the time at which the next refusal is answered. `beforeMs`: the time of the refusal before it. */
function nextAnswerAt(
  beforeMs = Number.NEGATIVE_INFINITY,
  nowMs: number,
  { atOnce, perSecond, waitMaxMs }: Bounds,
): number {
  const everyMs = 1_000 / perSecond;
  return Math.min(Math.max(beforeMs, nowMs - atOnce * everyMs) + everyMs, nowMs + waitMaxMs);
}

/** Waits until a request may be refused; undefined where that is now. What still comes of its body is thrown away meanwhile. */
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
