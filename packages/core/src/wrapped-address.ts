import ipaddr from "ipaddr.js";

/**
 * The IPv4 addresses that an IPv6 address stands for, empty when it is an address of its own. A packet to one of these
 * forms may reach the inner address, so whoever judges addresses has to judge that one. Teredo carries two: the server
 * and the client. The local-use NAT64 prefix 64:ff9b:1::/48 is not unwrapped: its layout is each operator's own, and the guard refuses it whole.
 */
export function wrappedAddresses(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const { parts } = address;
  const lastTwo = () => [fromParts(parts[6], parts[7])];
  switch (prefixOf(parts)) {
    case "low96":
      return isUnspecifiedOrLoopback(parts) ? [] : lastTwo();
    case "embedded":
      return lastTwo();
    case "6to4":
      return [fromParts(parts[1], parts[2])];
    case "teredo":
      return [fromParts(parts[2], parts[3]), fromParts(inverted(parts[6]), inverted(parts[7]))];
    default:
      return [];
  }
}

function prefixOf(parts: readonly number[]): "low96" | "embedded" | "6to4" | "teredo" | "none" {
  switch (
    parts
      .slice(0, 6)
      .map((part) => part.toString(16))
      .join(":")
  ) {
    case "0:0:0:0:0:0": // IPv4-compatible, RFC 4291 2.5.5.1
      return "low96";
    case "0:0:0:0:0:ffff": // IPv4-mapped, RFC 4291 2.5.5.2
    case "0:0:0:0:ffff:0": // IPv4-translated, RFC 2765 2.1
    case "64:ff9b:0:0:0:0": // NAT64, RFC 6052 2.1
      return "embedded";
  }
  if (parts[0] === 0x2002) return "6to4"; // RFC 3056
  return parts[0] === 0x2001 && parts[1] === 0 ? "teredo" : "none"; // RFC 4380
}

function isUnspecifiedOrLoopback(parts: readonly number[]): boolean {
  return parts[6] === 0 && (parts[7] ?? 0) <= 1;
}

function inverted(part = 0): number {
  return part ^ 0xffff;
}

function fromParts(high = 0, low = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
