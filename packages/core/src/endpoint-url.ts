import { isIP } from "node:net";
import type { AddressGuard } from "./address-guard.ts";
import { type Fault, fault, formatValue } from "./errors.ts";
import { isHostName } from "./host-name.ts";

const urlCharactersMax = 2_048;

/**
 * The URL as it is stored and dialled, or the fault of it: ENDPOINT_URL_INVALID, ENDPOINT_URL_NOT_HTTPS or
 * ENDPOINT_ADDRESS_REFUSED. A name is judged at every attempt, when it is resolved; an address is judged here too.
 */
export function checkEndpointUrl(guard: AddressGuard, text: string): string {
  const url = parseUrl(text);
  if (url.username !== "" || url.password !== "") throw endpointUrlInvalid("(hidden)", "carries credentials");
  // An empty fragment leaves no trace in `hash`.
  if (text.includes("#")) throw endpointUrlInvalid(text, "has a fragment");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) throw endpointUrlNotHttps(text);
  const verdict = guard.judgeUrl(url);
  if (!verdict.allowed) throw endpointAddressRefused(text, verdict.range);
  return url.href;
}

function parseUrl(text: string): URL {
  if (text === "") throw endpointUrlInvalid(text, "is empty");
  if (text.length > urlCharactersMax) throw endpointUrlInvalid(text, `is longer than ${urlCharactersMax} characters`);
  if (!URL.canParse(text)) throw endpointUrlInvalid(withoutCredentials(text), "is not an absolute URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw endpointUrlInvalid(withoutCredentials(text), "has another scheme than https");
  if (url.port === "0") throw endpointUrlInvalid(text, "has port 0");
  if (!isHostName(url.hostname)) throw endpointUrlInvalid(text, "has a host that no name system has");
  return url;
}

/** A faulty URL for a message: whatever could be a user and a password in it is left out. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/.*@/s, "//");
}

/** Judged on the parsed host: URL has spelled out decimal, octal and short forms by then. */
function isLoopback(hostname: string): boolean {
  if (hostname === "localhost") return true;
  if (isIP(hostname) === 4) return hostname.startsWith("127.");
  return hostname === "[::1]";
}

/** `endpointUrl` is no address that events could be posted to. */
function endpointUrlInvalid(url: string, why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENDPOINT_URL_INVALID",
    field: "endpointUrl",
    message: `endpointUrl ${formatValue(url)} ${why}`,
    help: "Give an absolute https URL without credentials and fragment, such as https://example.com/hooks.",
  });
}

/** `endpointUrl` is plain http and leads off this machine. */
function endpointUrlNotHttps(url: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENDPOINT_URL_NOT_HTTPS",
    field: "endpointUrl",
    message: `endpointUrl ${formatValue(url)} is http and its host is not loopback`,
    help: "Use https; http is for loopback addresses only.",
  });
}

/** `endpointUrl` names an address that this deployment does not deliver to. */
function endpointAddressRefused(url: string, range: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENDPOINT_ADDRESS_REFUSED",
    field: "endpointUrl",
    message: `endpointUrl ${formatValue(url)} leads to a ${range} address, which this deployment does not deliver to`,
    help: "Use a public address, or have the operator allow the range in SVC_ENDPOINT_CIDRS.",
  });
}
