import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Identifies senders by address. */
export type ClientAddresses = {
  /** True if an address, in the form of `addressOf`, is a trusted proxy. */
  isTrusted(address: string): boolean;
  /**
   * Returns the sender's address of a request on a connection from `peer`: `peer` itself, or behind trusted proxies the last entry of
   * X-Forwarded-For that is not a proxy. Earlier entries are only the client's claim and are not read.
   */
  forwardedFor(peer: string, req: IncomingMessage): string;
};

/** Creates the reader of addresses. `trustedProxies`: well-formed CIDRs. */
export function createClientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [base = "", bits = ""] = range.split("/");
    trusted.addSubnet(base, Number(bits), familyOf(base));
  }
  const isTrusted = (address: string) => trustedProxies.length > 0 && trusted.check(address, familyOf(address));
  return {
    isTrusted,
    forwardedFor(peer, req) {
      const header = req.headers["x-forwarded-for"];
      const hops = (typeof header === "string" ? header : "").split(",");
      let nearest = peer;
      for (const hop of hops.reverse()) {
        const address = plainAddress(withoutPort(hop.trim()));
        if (isIP(address) === 0) break;
        nearest = address;
        if (!isTrusted(address)) break;
      }
      return nearest;
    },
  };
}

/** Returns an address for comparison: an IPv4-mapped IPv6 address as IPv4, without a zone. */
export function plainAddress(address: string): string {
  const plain = address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
  const zone = plain.indexOf("%");
  return zone < 0 ? plain : plain.slice(0, zone);
}

/**
 * Returns the group under which an address is counted: the first 64 bits for IPv6, which belong to one customer (RFC 6177), the whole
 * address for IPv4.
 */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = [...before, ...gap, ...after].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}

/** Proxies also write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(hop);
  if (bracketed !== null) return bracketed[1] ?? "";
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
