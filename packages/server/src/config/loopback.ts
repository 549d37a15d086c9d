import { type Config, isLoopbackHost } from "./config.ts";

/**
 * Returns the loopback ranges if calls and deliveries may reach this machine: a server that only this machine reaches may do so, which is
 * useful for trials. A server behind a proxy, as SVC_PUBLIC_URL shows, is reached by others, who must not see other local services.
 */
export function loopbackRanges({ host, publicUrl }: Pick<Config, "host" | "publicUrl">): readonly string[] {
  const isOwn = isLoopbackHost(host) && (publicUrl === undefined || isLoopbackHost(hostOf(publicUrl)));
  return isOwn ? ["127.0.0.0/8", "::1/128"] : [];
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
