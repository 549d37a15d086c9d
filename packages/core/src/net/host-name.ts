import { isIP } from "node:net";

/** Letters, digits and inner hyphens (RFC 1123, 2.1), and the underscore, which real hosts use. */
const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const nameCharactersMax = 253;

/** True if a host is an address, or labels of at most 63 characters separated by dots. URL also accepts others, such as `a..b` and `-`. */
export function isHostName(hostname: string): boolean {
  if (hostname.startsWith("[")) return true;
  // A final dot marks a complete name.
  const name = hostname.replace(/\.$/, "");
  return name.length <= nameCharactersMax && name.split(".").every((label) => labelPattern.test(label));
}

const textMax = 300;

/**
 * Returns a host in the form of lists of allowed hosts: lower-case ASCII, with its port unless it is 443. Undefined if the text is not
 * exactly a host. A host allows only itself: no subdomains and no other ports.
 */
export function parseHttpHost(text: string): string | undefined {
  if (text.length > textMax || /[\s/\\?#@*%]/.test(text)) return undefined;
  const url = URL.parse(`https://${text}/`);
  // A final dot makes another text of the same name, which would be in the list but match no request.
  return url === null || !isServer(url) || url.hostname.endsWith(".") ? undefined : url.host;
}

/** Host of a request in the form of `parseHttpHost`; or the reason for its refusal, without quoting the URL. */
export type HttpTarget = { readonly host: string } | { readonly fault: string };

/**
 * Checks the URL of a request: https, or http to this machine, with a host and nothing else before the path. A list decides which hosts are
 * allowed.
 */
export function httpTargetOf(text: string): HttpTarget {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return { fault: "is not an absolute https URL" };
  if (url.username !== "" || url.password !== "") return { fault: "carries credentials" };
  // `hash` does not show an empty fragment.
  if (text.includes("#")) return { fault: "has a fragment" };
  if (!isServer(url)) return { fault: "has a host that no name system has" };
  if (url.protocol === "https:") return { host: url.host };
  if (!isLoopback(url.hostname)) return { fault: "is http, which is for loopback addresses only" };
  // Without its port it would equal the same host over TLS.
  return { host: url.port === "" ? `${url.host}:80` : url.host };
}

function isServer({ hostname, port }: URL): boolean {
  return port !== "0" && isHostName(hostname);
}

function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}
