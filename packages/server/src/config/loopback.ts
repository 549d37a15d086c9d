import { type Config, isLoopbackHost } from "./config.ts";

/**
 * Returns the loopback address ranges if calls and deliveries may connect to this machine, and else an empty list. They may if only this
 * machine can reach the server, as in a trial. If SVC_PUBLIC_URL shows that others can reach the server, calls and deliveries must not
 * reach other services of this machine.
 */
export function loopbackRanges({ host, publicUrl }: Pick<Config, "host" | "publicUrl">): readonly string[] {
  const isOwn = isLoopbackHost(host) && (publicUrl === undefined || isLoopbackHost(hostOf(publicUrl)));
  return isOwn ? ["127.0.0.0/8", "::1/128"] : [];
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
