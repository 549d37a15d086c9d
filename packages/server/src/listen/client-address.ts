import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Tells who sends, by address. */
export type ClientAddresses = {
  /** Whether an address, as `addressOf` writes it, is a proxy's that is named as trusted. */
  isTrusted(address: string): boolean;
  /**
   * The address that sent a request over a connection of `peer`: `peer` itself, or behind trusted proxies the nearest entry of
   * X-Forwarded-For that is none of theirs. What stands before that entry is the client's own word, and is not read.
   */
  forwardedFor(peer: string, req: IncomingMessage): string;
};

/** Reads addresses with `trustedProxies`, CIDRs that are known to be well-formed. */
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

/** An address as it is compared: an IPv4 one that IPv6 maps as itself, and none with a zone. */
export function plainAddress(address: string): string {
  const plain = address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
  const zone = plain.indexOf("%");
  return zone < 0 ? plain : plain.slice(0, zone);
}

/** What addresses are counted by: IPv6 by its first 64 bits, which are one customer's (RFC 6177), IPv4 whole. */
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

/** Proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711` as well. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(hop);
  if (bracketed !== null) return bracketed[1] ?? "";
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
