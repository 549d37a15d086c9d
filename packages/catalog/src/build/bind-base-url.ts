import { formatValue, parseTemplate, placeholdersOf } from "@svc/core";
import type { Toolkit } from "../model.ts";
import { keySegment } from "./base-url.ts";

/**
 * The base address of a call, or the reason why there is none. `unbound`: name of the deployment value that is not set. `fault`: the value
 * that makes the address invalid.
 */
export type BoundBaseUrl =
  | { readonly url: string }
  | { readonly unbound: "provider_base_url" }
  | { readonly fault: string };

/**
 * True if the values that an app's base URL takes from the deployment are set. Values that the connecting person enters are not considered.
 */
export function isBound({ baseUrl }: Pick<Toolkit, "baseUrl">): boolean {
  return !baseUrl.includes("{provider_base_url}");
}

/**
 * Returns the base URL of a toolkit's app, with values in place of its placeholders. The placeholder for the account's key (`keySegment`)
 * stays in the URL until a request is sent. Returns the reason instead if a value or the whole URL is not allowed.
 */
export function bindBaseUrl(
  { baseUrl }: Pick<Toolkit, "baseUrl">,
  scope: { readonly account: Readonly<Record<string, string>>; readonly params: Readonly<Record<string, unknown>> },
): BoundBaseUrl {
  if (!isBound({ baseUrl })) return { unbound: "provider_base_url" };
  const { parts } = parseTemplate(baseUrl);
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    if (part.root === "credential") {
      text += keySegment;
      continue;
    }
    const value = (part.root === "account" ? scope.account : scope.params)[String(part.path[0])];
    const fault = faultOfPart(text, value);
    if (fault !== undefined) return { fault: `${part.text} is ${formatValue(value)}, which ${fault}` };
    text += placeOf(text) === "path" ? encodeURIComponent(String(value)) : String(value);
  }
  // The address guard checks the IP address of the host later.
  return checkUrl(text, fixedSuffixOf(baseUrl));
}

/** Returns the names of the call arguments (`{{params.…}}`) that the base URL of a toolkit's app contains. */
export function hostArguments({ baseUrl }: Pick<Toolkit, "baseUrl">): string[] {
  const params = placeholdersOf(parseTemplate(baseUrl)).filter(({ root }) => root === "params");
  return params.map(({ path }) => String(path[0]));
}

type Place = "host" | "port" | "path";

/** Returns the part of a URL (host, port or path) to which a placeholder belongs. `before`: the text of the URL before the placeholder. */
function placeOf(before: string): Place {
  const authority = /^https?:\/\/([^/]*)$/.exec(before)?.[1];
  if (authority === undefined) return "path";
  return authority.endsWith(":") ? "port" : "host";
}

const labels = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

function faultOfPart(before: string, value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return "is not a text";
  switch (placeOf(before)) {
    case "host":
      return labels.test(value) ? undefined : "is not made of DNS labels (letters, digits and -, joined by dots)";
    case "port":
      return /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
        ? undefined
        : "is not a port, 1 to 65535";
    case "path":
      return /^[\w~-][\w.~-]*$/.test(value) ? undefined : "is not one path segment of letters, digits, -, _, . and ~";
  }
}

/**
 * Returns the part of a base URL's host after the last placeholder, with the leading dot or hyphen (for example `.example.com`). Returns an
 * empty text if the host ends with a placeholder.
 */
function fixedSuffixOf(baseUrl: string): string {
  const authority = /^https?:\/\/([^/]*)/.exec(baseUrl)?.[1] ?? "";
  const end = authority.lastIndexOf("}}");
  return end < 0 ? "" : authority.slice(end + 2).replace(/:\d*$/, "");
}

function checkUrl(text: string, suffix: string): BoundBaseUrl {
  const url = URL.parse(text);
  // The URL parser accepts missing slashes and backslashes before a host. It could then find another host than the text shows.
  if (!/^https?:\/\/[^/\\?#@]+(?:\/|$)/.test(text) || text.includes("\\")) {
    return { fault: `${formatValue(text)} does not begin with https:// and a host` };
  }
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return { fault: `${formatValue(text)} is not an address` };
  }
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback)) {
    return { fault: `${formatValue(text)} is not an https address (http is for loopback only)` };
  }
  if (!url.hostname.endsWith(suffix.toLowerCase())) return { fault: `${formatValue(text)} does not end in ${suffix}` };
  return { url: text };
}
