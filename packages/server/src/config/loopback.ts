import { type Config, isLoopbackHost } from "./config.ts";

/**
 * Returns the loopback address ranges if calls and deliveries may connect to other services of this machine, and an empty list if they may
 * not. They may if only this machine can reach the server, as in a trial. If SVC_PUBLIC_URL or the listening address shows that others can
 * reach the server, its callers could otherwise attack services that listen only on this machine.
 */
export function loopbackRanges({ host, publicUrl }: Pick<Config, "host" | "publicUrl">): readonly string[] {
  const isOwn = isLoopbackHost(host) && (publicUrl === undefined || isLoopbackHost(hostOf(publicUrl)));
  return isOwn ? ["127.0.0.0/8", "::1/128"] : [];
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
