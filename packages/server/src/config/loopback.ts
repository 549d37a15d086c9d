import { type Config, isLoopbackHost } from "./config.ts";

/**
 * The ranges of this machine itself, when calls and deliveries may go there: a server that only this machine reaches may reach
 * this machine, which is how it is tried out. One that listens on loopback behind a proxy, as SVC_PUBLIC_URL tells, is reached
 * by others, and what else listens there is not theirs to see.
 */
export function loopbackRanges({ host, publicUrl }: Pick<Config, "host" | "publicUrl">): readonly string[] {
  const isOwn = isLoopbackHost(host) && (publicUrl === undefined || isLoopbackHost(hostOf(publicUrl)));
  return isOwn ? ["127.0.0.0/8", "::1/128"] : [];
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
