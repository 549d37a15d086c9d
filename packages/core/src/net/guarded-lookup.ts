import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { type AddressGuard, AddressRefusedError } from "./address-guard.ts";

/** Resolves a name to all its addresses; rejects if it has none. Default: the system's resolver (getaddrinfo). */
export type ResolveName = (hostname: string) => Promise<LookupAddress[]>;

const resolveName: ResolveName = (hostname) => lookup(hostname, { all: true });

/**
 * Creates the `lookup` of a socket. A name is resolved once, and the socket dials only checked addresses, so a name cannot change its
 * answer between check and use. One refused address refuses the name (AddressRefusedError), because the dialler may pick any. Node skips it
 * for literal hosts: check those before.
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
