import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Finds the address of the client that sent a request, even if the request came through trusted proxies. */
export type ClientAddresses = {
  /** True if an address is a trusted proxy. The address must have the form that `addressOf` returns. */
  isTrusted(address: string): boolean;
  /**
   * Returns the address of a request's sender. `peer`: address of the connection. If `peer` is not a trusted proxy, returns `peer`.
   * Otherwise returns the last entry of X-Forwarded-For that is not a trusted proxy. Earlier entries are not used, because any client can
   * invent them.
   */
  forwardedFor(peer: string, req: IncomingMessage): string;
};

/**
 * Creates the functions that find the real address of a client behind proxies. `trustedProxies`: address ranges (CIDRs) of proxies whose
 * forwarding headers are trusted; they must be valid.
 */
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

/** Returns an address in a form that can be compared: an IPv4-mapped IPv6 address becomes IPv4, and a zone is removed. */
export function plainAddress(address: string): string {
  const plain = address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
  const zone = plain.indexOf("%");
  return zone < 0 ? plain : plain.slice(0, zone);
}

/**
 * Returns the group in which an address is counted. For IPv6, this is the first 64 bits, which belong to one customer (RFC 6177). For IPv4,
 * it is the whole address.
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

/** Returns an entry of X-Forwarded-For without its port. Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(hop);
  if (bracketed !== null) return bracketed[1] ?? "";
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
