import { createAddressGuard } from "@svc/core";
import type { Config } from "./settings.ts";

/** True if an address to listen on can be reached only from this machine. False if other machines may reach it. */
export function isLoopbackHost(host: string): boolean {
  const verdict = createAddressGuard({ allowedRanges: [] }).judge(host);
  return host === "localhost" || (!verdict.allowed && verdict.range === "loopback");
}

/**
 * Returns the loopback address ranges, if calls and deliveries may connect to other services of this machine. Returns an empty list if
 * other machines can reach this server, to protect those services.
 */
export function loopbackRanges({ host, publicUrl }: Pick<Config, "host" | "publicUrl">): readonly string[] {
  const isOwn = isLoopbackHost(host) && (publicUrl === undefined || isLoopbackUrl(publicUrl));
  return isOwn ? ["127.0.0.0/8", "::1/128"] : [];
}

/** True if the host of a valid URL can be reached only from this machine. False if other machines may reach it. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1"));
}
