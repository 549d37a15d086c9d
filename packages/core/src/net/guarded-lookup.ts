import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { type AddressGuard, AddressRefusedError } from "./address-guard.ts";

/** Returns all addresses of a name. Rejects if the name has no address. Default: the system's resolver (getaddrinfo). */
export type ResolveName = (hostname: string) => Promise<LookupAddress[]>;

const resolveName: ResolveName = (hostname) => lookup(hostname, { all: true });

/**
 * Returns a `lookup` function for sockets, which resolves a name and checks all its addresses. The socket then uses exactly these
 * addresses. If one of them is refused, the whole name is refused (AddressRefusedError), because the socket may choose any. Node does not
 * call `lookup` for IP addresses, so check those yourself.
 */
export function createGuardedLookup(
  guard: Pick<AddressGuard, "judge">,
  resolve: ResolveName = resolveName,
): LookupFunction {
  return (hostname, options, callback) => {
    resolveJudged(guard, resolve, hostname).then(
      ([first, ...rest]) =>
        options.all ? callback(null, [first, ...rest]) : callback(null, first.address, first.family),
      (err: Error) => callback(err, options.all ? [] : ""),
    );
  };
}

async function resolveJudged(
  guard: Pick<AddressGuard, "judge">,
  resolve: ResolveName,
  hostname: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const [first, ...rest] = await resolve(hostname);
  if (first === undefined) {
    throw Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" });
  }
  for (const { address } of [first, ...rest]) {
    const verdict = guard.judge(address);
    if (!verdict.allowed) throw new AddressRefusedError(address, verdict.range, hostname);
  }
  return [first, ...rest];
}
