import { connectionFaults } from "./errors.ts";

const lengthMax = 2048;

/**
 * Checks the address to which the browser is sent after consent. It must be a loopback URL, or have the origin and path of an entry in the
 * project's allow list; its query may be any. An empty text means that the browser is not sent anywhere, and is allowed. Throws
 * REDIRECT_URL_REFUSED.
 */
export function checkRedirectUrl(text: string, allowed: readonly string[]): void {
  if (text === "") return;
  const url = text.length > lengthMax ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw connectionFaults.REDIRECT_URL_REFUSED(
      text,
      "is not an http or https URL of at most 2,048 characters without credentials",
    );
  }
  if (isLoopback(url) || allowed.some((entry) => hasPlaceOf(url, entry))) return;
  throw connectionFaults.REDIRECT_URL_REFUSED(
    text,
    "is neither loopback nor in the allow list of the project's policy",
  );
}

function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function hasPlaceOf(url: URL, entry: string): boolean {
  const place = URL.parse(entry);
  return place !== null && url.origin === place.origin && url.pathname === place.pathname;
}
