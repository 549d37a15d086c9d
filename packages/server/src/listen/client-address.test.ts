import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { addressGroup, createClientAddresses, plainAddress } from "./client-address.ts";

const addresses = createClientAddresses(["10.0.0.0/8", "fd00::/8"]);
const from = (peer: string, forwarded?: string) =>
  addresses.forwardedFor(peer, { headers: { "x-forwarded-for": forwarded } } as unknown as IncomingMessage);

test.each([
  [undefined, "10.0.0.1"],
  ["192.0.2.7", "192.0.2.7"],
  ["192.0.2.7:4711", "192.0.2.7"],
  ["[2001:db8::1]:4711", "2001:db8::1"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["203.0.113.9, 192.0.2.7, 10.1.1.1", "192.0.2.7"],
  ["192.0.2.7, nonsense, 10.1.1.1", "10.1.1.1"],
  ["10.2.2.2, fd00::1", "10.2.2.2"],
  ["", "10.0.0.1"],
])("X-Forwarded-For %j names the nearest address that is no proxy's", (header, expected) => {
  expect(from("10.0.0.1", header)).toBe(expected);
});

test("only addresses in the ranges are proxies", () => {
  expect(["10.1.2.3", "fd00::1", "192.0.2.1", "::1", ""].map((address) => addresses.isTrusted(address))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(createClientAddresses([]).isTrusted("10.1.2.3")).toBe(false);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:0:1:aaaa::1", "2001:db8:0:1::/64"],
  ["2001:0DB8:0000:0001::2", "2001:db8:0:1::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
])("%s is counted as %s", (address, expected) => {
  expect(addressGroup(plainAddress(address))).toBe(expected);
});
