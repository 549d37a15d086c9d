import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import type { ConnectError } from "@connectrpc/connect";
import { hostRefused, originRefused } from "./mcp-errors.ts";

/** What origins and hosts are judged by. */
export type OriginRules = {
  /** SVC_PUBLIC_URL; undefined when it is unset. */
  publicUrl: string | undefined;
  /** Whether the node listens on a loopback address. Only then is a foreign Host known to be one: elsewhere names are proxies' business. */
  isLoopbackOnly: boolean;
};

/**
 * Refuses what a browser sends for a page of another origin, also where that page's name was made to lead here (DNS
 * rebinding). Undefined when the request may pass; a request without Origin is no page's.
 */
export function createOriginCheck({
  publicUrl,
  isLoopbackOnly,
}: OriginRules): (req: IncomingMessage) => ConnectError | undefined {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);
  return ({ headers: { origin, host } }) => {
    if (origin !== undefined && !isOwnOrigin(origin, own)) return originRefused(origin);
    if (isLoopbackOnly && host !== undefined && !isOwnHost(host, own)) return hostRefused(host);
    return undefined;
  };
}

/** Opaque origins, which read `null`, are nobody's. */
function isOwnOrigin(origin: string, own: URL | undefined): boolean {
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.origin === own?.origin || isLoopbackName(url.hostname);
}

function isOwnHost(host: string, own: URL | undefined): boolean {
  const url = URL.parse(`http://${host}`);
  return url !== null && (url.hostname === own?.hostname || isLoopbackName(url.hostname));
}

/** A name as URL writes it: lower-case, addresses in their canonical form. */
function isLoopbackName(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIPv4(hostname) && hostname.startsWith("127.");
}
