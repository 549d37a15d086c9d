import type { IncomingMessage } from "node:http";
import type { Clock } from "@svc/core";
import { addressGroup } from "../http/client-address.ts";
import { createMinuteCount } from "../minute-count.ts";

/** Counts what addresses do, on a node: answers how long one must wait, milliseconds, that has done it too often; undefined where it may. */
export type AddressLimit = (req: IncomingMessage) => number | undefined;

/** Makes the count: `most` within a minute. */
export function createAddressLimit(options: {
  clock: Clock;
  most: number;
  /** Who sent a request, as addresses are counted. */
  addressOf: (req: IncomingMessage) => string;
}): AddressLimit {
  const count = createMinuteCount(options);
  return (req) => count(addressGroup(options.addressOf(req)));
}
