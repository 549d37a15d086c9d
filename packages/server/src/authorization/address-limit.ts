import type { IncomingMessage } from "node:http";
import { type Clock, LeastRecentlyUsed } from "@svc/core";
import { addressGroup } from "../http/client-address.ts";

/** Counts what addresses do, on a node: answers how long one must wait, milliseconds, that has done it too often; undefined where it may. */
export type AddressLimit = (req: IncomingMessage) => number | undefined;

const windowMs = 60_000;
const addressesMax = 10_000;

/** Makes the count: `most` within a minute. */
export function createAddressLimit(options: {
  clock: Clock;
  most: number;
  /** Who sent a request, as addresses are counted. */
  addressOf: (req: IncomingMessage) => string;
}): AddressLimit {
  const { clock, most, addressOf } = options;
  const counted = new LeastRecentlyUsed<string, { count: number; readonly untilMs: number }>(addressesMax);
  return (req) => {
    const [address, nowMs] = [addressGroup(addressOf(req)), clock.now()];
    const found = counted.get(address);
    if (found === undefined || found.untilMs <= nowMs) {
      counted.set(address, { count: 1, untilMs: nowMs + windowMs });
      return undefined;
    }
    found.count += 1;
    return found.count <= most ? undefined : found.untilMs - nowMs;
  };
}
