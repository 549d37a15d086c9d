import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { formatValue } from "../faults/errors.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Decision about an address. `range`: the reason for a refusal (`private`, `loopback`, `metadata`, ...). */
export type AddressDecision = { allowed: true } | { allowed: false; range: string };

/** Decides which addresses svc may connect to on behalf of a project. */
export type AddressGuard = {
  /** Returns the decision about one IP address. Refuses a text that `net.isIP` does not accept. */
  judge(address: string): AddressDecision;
  /**
   * Returns the decision about the host of a URL, before its name is resolved. Checks an IP address in every spelling that URL accepts.
   * Allows `localhost` only if 127.0.0.1 or ::1 is allowed. Allows all other names; they are checked when they are resolved.
   */
  judgeUrl(url: URL): AddressDecision;
};

/**
 * Error for a connection that the guard refused. Nothing was sent. `address`: the refused IP address, which may be one of the addresses of
 * a name.
 */
export class AddressRefusedError extends Error {
  override name = "AddressRefusedError";
  readonly code = "address_refused";
  readonly address: string;
  readonly range: string;

  constructor(address: string, range: string, hostname: string) {
    const subject = address === hostname ? address : `${formatValue(hostname)} leads to ${address}, which`;
    super(`${subject} is not a public address (${range})`);
    this.address = address;
    this.range = range;
  }
}

const allowed: AddressDecision = { allowed: true };

// Addresses of instance metadata services (of cloud providers). They give credentials to every caller, so no configuration can allow them.
// Some are in private ranges; 168.63.129.16 is in a public range.
const metadataAddresses = new Set([
  "169.254.169.254",
  "168.63.129.16",
  "100.100.100.200",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd20:ce::254",
]);

// Address range of RFC 8215. Each operator translates these addresses to IPv4 in its own way, so svc cannot know the real destination and
// refuses them.
const localNat64: Range = ipaddr.parseCIDR("64:ff9b:1::/48");

/**
 * Creates a guard that allows global unicast addresses and the addresses in `allowedRanges` (CIDRs such as `10.0.0.0/8`). It never allows
 * metadata services or local NAT64 prefixes (64:ff9b:1::/48). If an address contains an IPv4 address (mapped, compatible, translated, 6to4,
 * Teredo, NAT64), the guard checks the IPv4 address. Throws an Error that contains the range if a range cannot be parsed.
 */
export function createAddressGuard(options: { allowedRanges: readonly string[] }): AddressGuard {
  const ranges = options.allowedRanges.map(parseRange);
  const judge = (text: string): AddressDecision => {
    if (isIP(text) === 0) return refused("not an address");
    const address = ipaddr.parse(text);
    const inner = address instanceof ipaddr.IPv6 ? wrappedAddresses(address) : [];
    if ([address, ...inner].some(isMetadata)) return refused("metadata");
    if (isInside(address, [localNat64])) return refused("rfc6052");
    if (isInside(address, ranges)) return allowed;
    return judgeEach(inner.length > 0 ? inner : [address], ranges);
  };
  return { judge, judgeUrl: (url) => judgeHost(url.hostname, judge) };
}

function judgeHost(hostname: string, judge: AddressGuard["judge"]): AddressDecision {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return judge(host);
  if (!/^(?:.*\.)?localhost\.?$/i.test(host)) return allowed;
  const v4 = judge("127.0.0.1");
  return v4.allowed ? v4 : judge("::1");
}

function judgeEach(addresses: readonly Address[], ranges: readonly Range[]): AddressDecision {
  for (const address of addresses) {
    const range = rangeOf(address);
    if (range !== "unicast" && !isInside(address, ranges)) return refused(range);
  }
  return allowed;
}

function rangeOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.range();
  const range = address.range();
  if (range !== "unicast") return range;
  // IANA has assigned public addresses only in 2000::/3. This must be checked here, because ipaddr.js calls every unknown address
  // "unicast".
  const isAllocated = ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
  if (!isAllocated) return "unallocated";
  return address.zoneId === undefined ? range : "zoned";
}

function isMetadata(address: Address): boolean {
  return metadataAddresses.has(String(withoutZone(address)));
}

function withoutZone(address: Address): Address {
  return address instanceof ipaddr.IPv6 ? new ipaddr.IPv6(address.parts) : address;
}

function refused(range: string): AddressDecision {
  return { allowed: false, range };
}

type Range = [Address, number];

function isInside(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

function parseRange(text: string): Range {
  const base = text.slice(0, text.lastIndexOf("/"));
  if (isIP(base) === 0 || !ipaddr.isValidCIDR(text)) {
    throw new Error(
      `address range ${formatValue(text)} is not understood; expected a form like "10.0.0.0/8" or "fd00::/8"`,
    );
  }
  return ipaddr.parseCIDR(text);
}

/**
 * Returns the IPv4 addresses inside an IPv6 address; empty if there are none. A packet to such an IPv6 address may reach the IPv4 address,
 * so the guard must check the IPv4 address. A Teredo address contains two: the server's and the client's. Returns nothing for the local-use
 * NAT64 prefix 64:ff9b:1::/48, because each operator defines its layout; the guard refuses the whole prefix.
 */
function wrappedAddresses(address: ipaddr.IPv6): ipaddr.IPv4[] {
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
