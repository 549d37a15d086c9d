import { isIP } from "node:net";
import { coreFaults } from "../faults/faults.ts";
import type { AddressGuard } from "./address-guard.ts";
import { isHostName } from "./host-name.ts";

const urlCharactersMax = 2_048;

/**
 * Returns an endpoint's URL in the form in which svc stores and calls it. Throws ENDPOINT_URL_INVALID, ENDPOINT_URL_NOT_HTTPS or
 * ENDPOINT_ADDRESS_REFUSED. If the host is an IP address, it is checked here. If it is a name, its addresses are checked at each
 * connection.
 */
export function checkEndpointUrl(guard: AddressGuard, text: string): string {
  const url = parseUrl(text);
  if (url.username !== "" || url.password !== "")
    throw coreFaults.ENDPOINT_URL_INVALID("(hidden)", "carries credentials");
  // `URL.hash` is also empty for a URL that ends in "#". So this searches for the character "#".
  if (text.includes("#")) throw coreFaults.ENDPOINT_URL_INVALID(text, "has a fragment");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) throw coreFaults.ENDPOINT_URL_NOT_HTTPS(text);
  const decision = guard.judgeUrl(url);
  if (!decision.allowed) throw coreFaults.ENDPOINT_ADDRESS_REFUSED(text, decision.range);
  return url.href;
}

function parseUrl(text: string): URL {
  if (text === "") throw coreFaults.ENDPOINT_URL_INVALID(text, "is empty");
  if (text.length > urlCharactersMax)
    throw coreFaults.ENDPOINT_URL_INVALID(text, `is longer than ${urlCharactersMax} characters`);
  if (!URL.canParse(text)) throw coreFaults.ENDPOINT_URL_INVALID(withoutCredentials(text), "is not an absolute URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw coreFaults.ENDPOINT_URL_INVALID(withoutCredentials(text), "has another scheme than https");
  if (url.port === "0") throw coreFaults.ENDPOINT_URL_INVALID(text, "has port 0");
  if (!isHostName(url.hostname)) throw coreFaults.ENDPOINT_URL_INVALID(text, "has a host that is not a valid name");
  return url;
}

/** Returns an invalid URL for a message, without the parts that could contain a user name and a password. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/.*@/s, "//");
}

/**
 * True if a host is this machine. `hostname` comes from a parsed URL, which has already normalized decimal, octal and short forms of
 * addresses.
 */
function isLoopback(hostname: string): boolean {
  if (hostname === "localhost") return true;
  if (isIP(hostname) === 4) return hostname.startsWith("127.");
  return hostname === "[::1]";
}
