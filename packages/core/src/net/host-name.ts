import { isIP } from "node:net";

/**
 * Matches one label of a host name: letters, digits and inner hyphens (RFC 1123, 2.1). It also allows underscores, because some real hosts
 * have them.
 */
const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const nameCharactersMax = 253;

/**
 * True if a host is an IP address, or labels of at most 63 characters separated by dots. False for other hosts that URL accepts, such as
 * `a..b` and `-`.
 */
export function isHostName(hostname: string): boolean {
  if (hostname.startsWith("[")) return true;
  // A final dot marks a fully qualified name, so it is removed for the check.
  const name = hostname.replace(/\.$/, "");
  return name.length <= nameCharactersMax && name.split(".").every((label) => labelPattern.test(label));
}

const textMax = 300;

/**
 * Returns a host in the form that lists of allowed hosts use: lower-case ASCII, with its port unless that is 443. Returns undefined if the
 * text is not just a host. An entry in such a list does not allow subdomains or other ports.
 */
export function parseHttpHost(text: string): string | undefined {
  if (text.length > textMax || /[\s/\\?#@*%]/.test(text)) return undefined;
  const url = URL.parse(`https://${text}/`);
  // A host with a dot at the end is refused. It would be stored as a different text and would then match no request.
  return url === null || !isServer(url) || url.hostname.endsWith(".") ? undefined : url.host;
}

/**
 * The host of a request's URL in the form that `parseHttpHost` returns, or the reason why svc refuses the URL. The reason does not quote
 * the URL.
 */
export type HttpTarget = { readonly host: string } | { readonly fault: string };

/**
 * Returns the host of a request's URL, or the reason why svc refuses the URL. The URL must be https, or http to this machine, and must not
 * contain a user name or password. The caller checks if the project may call the host.
 */
export function httpTargetOf(text: string): HttpTarget {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return { fault: "is not an absolute https URL" };
  if (url.username !== "" || url.password !== "") return { fault: "carries credentials" };
  // `URL.hash` is also empty for a URL that ends in "#". So this searches for the character "#".
  if (text.includes("#")) return { fault: "has a fragment" };
  if (!isServer(url)) return { fault: "has a host that is not a valid name" };
  if (url.protocol === "https:") return { host: url.host };
  if (!isLoopback(url.hostname)) return { fault: "is http, which is for loopback addresses only" };
  // The port 80 is added. Otherwise, the text would be the same as for the host over https.
  return { host: url.port === "" ? `${url.host}:80` : url.host };
}

function isServer({ hostname, port }: URL): boolean {
  return port !== "0" && isHostName(hostname);
}

function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}
