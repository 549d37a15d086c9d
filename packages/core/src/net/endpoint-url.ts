import { isIP } from "node:net";
import { coreFaults } from "../faults/faults.ts";
import type { AddressGuard } from "./address-guard.ts";
import { isHostName } from "./host-name.ts";

const urlCharactersMax = 2_048;

/**
 * Returns the URL as it is stored and dialled. Throws ENDPOINT_URL_INVALID, ENDPOINT_URL_NOT_HTTPS or ENDPOINT_ADDRESS_REFUSED. A name is
 * checked at every attempt, when it is resolved; a literal address is checked here too.
 */
export function checkEndpointUrl(guard: AddressGuard, text: string): string {
  const url = parseUrl(text);
  if (url.username !== "" || url.password !== "")
    throw coreFaults.ENDPOINT_URL_INVALID("(hidden)", "carries credentials");
  // `hash` does not show an empty fragment.
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
  if (!isHostName(url.hostname)) throw coreFaults.ENDPOINT_URL_INVALID(text, "has a host that no name system has");
  return url;
}

/** Returns a faulty URL for a message, without any part that could be a user and a password. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/.*@/s, "//");
}

/** Checks the parsed host: URL has normalized decimal, octal and short forms by then. */
function isLoopback(hostname: string): boolean {
  if (hostname === "localhost") return true;
  if (isIP(hostname) === 4) return hostname.startsWith("127.");
  return hostname === "[::1]";
}
