import type { ServerResponse } from "node:http";
import { LeastRecentlyUsed } from "@svc/core";
import { discardBody, mayBeLarge } from "../body/body.ts";
import { connectionOf } from "./connection-rings.ts";

/** The pace of refusals for requests without a key. */
export type RefusalPace = {
  /** Counts a refusal of an address. Returns the delay of its answer, milliseconds: 0 for none. */
  take(address: string): number;
};

/** Limits of answers: a number at once, then a number per second. A refusal waits at most `waitMaxMs`. */
type Bounds = { readonly atOnce: number; readonly perSecond: number; readonly waitMaxMs: number };

/** For one address. Only an address with two thousand running requests waits that long. */
const ofAddress: Bounds = { atOnce: 32, perSecond: 200, waitMaxMs: 10_000 };
/** For all addresses: the work of part of a core, on a node with two. */
const ofNode: Bounds = { atOnce: 200, perSecond: 1_000, waitMaxMs: 1_000 };
const addressesMax = 10_000;

/**
 * Creates the pace of a node. A refusal costs half a millisecond, and a client that sends the next request right after it would occupy the
 * whole event loop. A waiting refusal holds only its connection. Requests with a valid key never wait here, and a refusal does not affect
 * other addresses.
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

/** Waits until a request may be refused; undefined if it may be refused now. The rest of its body is discarded in between. */
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
