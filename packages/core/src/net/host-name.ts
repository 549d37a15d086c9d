import { isIP } from "node:net";

/** Letters, digits and inner hyphens (RFC 1123, 2.1), and the underscore, which hosts of the real world have. */
const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const nameCharactersMax = 253;

/** Whether a host can be one: an address, or labels of 63 characters with dots between them. URL takes others, `a..b` and `-` among them. */
export function isHostName(hostname: string): boolean {
  if (hostname.startsWith("[")) return true;
  // One dot at the end says that the name is whole.
  const name = hostname.replace(/\.$/, "");
  return name.length <= nameCharactersMax && name.split(".").every((label) => labelPattern.test(label));
}

const textMax = 300;

/**
 * A host as lists of allowed hosts hold it: in lower case and ASCII, its port behind it unless it is 443; undefined for a text that is
 * more than a host, or none. A host stands for itself alone: neither for those below it nor for other ports.
 */
export function parseHttpHost(text: string): string | undefined {
  if (text.length > textMax || /[\s/\\?#@*%]/.test(text)) return undefined;
  const url = URL.parse(`https://${text}/`);
  // A dot at the end makes another text of the same name: it would stand on the list, and no request with it.
  return url === null || !isServer(url) || url.hostname.endsWith(".") ? undefined : url.host;
}

/** Where a request goes: the host as `parseHttpHost` writes it; or why no request goes there, in words that quote nothing of it. */
export type HttpTarget = { readonly host: string } | { readonly fault: string };

/** Judges the URL of a request: https, or http to this machine, to a host and nothing but it. A list says which hosts are meant. */
export function httpTargetOf(text: string): HttpTarget {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return { fault: "is not an absolute https URL" };
  if (url.username !== "" || url.password !== "") return { fault: "carries credentials" };
  // An empty fragment leaves no trace in `hash`.
  if (text.includes("#")) return { fault: "has a fragment" };
  if (!isServer(url)) return { fault: "has a host that no name system has" };
  if (url.protocol === "https:") return { host: url.host };
  if (!isLoopback(url.hostname)) return { fault: "is http, which is for loopback addresses only" };
  // Without its port it would be taken for the same host over TLS.
  return { host: url.port === "" ? `${url.host}:80` : url.host };
}

function isServer({ hostname, port }: URL): boolean {
  return port !== "0" && isHostName(hostname);
}

function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}
