import { type AuthScheme, isPlainPath, keySegment, type SecretPlace, type Toolkit } from "@svc/catalog";
import { renderTemplateTree, type TemplateScope } from "@svc/core";
import type { AppRequest } from "./app-transport.ts";
import { type Credential, tokenOf } from "./credential.ts";

/**
 * A part of a request that carries the credential, or one of its two secrets: a header, a query parameter, or the path segment of the key.
 */
type Placement = { readonly in: SecretPlace["in"] | "path"; readonly name: string; readonly value: string };

/** The reason why a credential cannot be put into a request, for example because it has characters that a header cannot contain. */
export type PlacementFault = { readonly fault: string };

/**
 * Returns the toolkit's declaration of the authentication scheme with this name, or undefined if the toolkit does not declare the scheme.
 */
export function schemeOf(toolkit: Pick<Toolkit, "auth">, scheme: string): AuthScheme | undefined {
  return toolkit.auth.find(({ type }) => type === scheme);
}

/**
 * Allowed characters of a credential, by its place. A header value has visible ASCII, spaces and tabs (RFC 9110, 5.5): a line break would
 * begin another header. Some proxies would take a slash in a segment for the end of the segment.
 */
const forms = { header: /^[\x20-\x7e\t]*$/, query: /^\P{Cc}*$/u, path: /^[^\p{Cc}/\\]+$/u };

/**
 * Returns the request with the credential in the header, query parameter or path segment that the app's toolkit declares. The credential
 * replaces an existing value of the same name.
 */
export function placeCredential(
  scheme: AuthScheme,
  credential: Credential,
  variables: Readonly<Record<string, string>>,
  request: AppRequest,
): AppRequest | PlacementFault {
  const placements = placementsOf(scheme, credential, variables);
  if ("fault" in placements) return placements;
  for (const placement of placements) {
    const isSent = forms[placement.in].test(placement.value) && placement.value.isWellFormed();
    // A segment of dots would lead out of the path of the base URL.
    if (isSent && (placement.in !== "path" || isPlainPath(`/${placement.value}`))) continue;
    return { fault: `the credential holds characters that a ${placement.in} cannot carry` };
  }
  return placements.reduce((placed, placement) => place(placement, placed), request);
}

/** Returns the request with `***` in the place of the credential. */
export function placeMask(
  scheme: AuthScheme,
  variables: Readonly<Record<string, string>>,
  request: AppRequest,
): AppRequest {
  const masked = (credential: Credential): AppRequest => {
    const placed = placeCredential(scheme, credential, variables, request);
    return "fault" in placed ? request : placed;
  };
  switch (scheme.type) {
    case "none":
      return request;
    case "basic":
      if (scheme.place === undefined)
        return place({ in: "header", name: "authorization", value: "Basic ***" }, request);
      return masked({ scheme: "basic", username: "***", password: "***" });
    case "api_key":
      return masked({ scheme: "api_key", key: "***" });
    case "oauth2":
    case "client_credentials":
      return place({ in: "header", name: "authorization", value: "Bearer ***" }, request);
  }
}

function placementsOf(
  scheme: AuthScheme,
  credential: Credential,
  account: Readonly<Record<string, string>>,
): readonly Placement[] | PlacementFault {
  if (credential.scheme !== scheme.type) return { fault: `the credential is not one for ${scheme.type}` };
  const header = (value: string): readonly Placement[] => [{ in: "header", name: "authorization", value }];
  switch (scheme.type) {
    case "none":
      return [];
    case "basic": {
      if (credential.scheme !== "basic") return [];
      const { username, password } = credential;
      if (scheme.place !== undefined) return rendered(scheme.place, { credential: { username, password }, account });
      return header(`Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`);
    }
    case "api_key": {
      if (credential.scheme !== "api_key") return [];
      if (scheme.placement === "path") return [{ in: "path", name: "", value: credential.key }];
      const { placement, name, value } = scheme;
      return rendered([{ in: placement, name, value }], { credential: { key: credential.key }, account });
    }
    case "oauth2":
    case "client_credentials": {
      const token = tokenOf(credential);
      return token === undefined ? { fault: "the account has no token yet" } : header(`Bearer ${token.access_token}`);
    }
  }
}

function rendered(places: readonly SecretPlace[], scope: TemplateScope): readonly Placement[] | PlacementFault {
  const made: Placement[] = [];
  for (const { in: part, name, value } of places) {
    const text = renderTemplateTree(value, scope);
    if (typeof text !== "string") return { fault: "the credential makes no value for the request" };
    made.push({ in: part, name, value: text });
  }
  return made;
}

function place(placement: Placement, request: AppRequest): AppRequest {
  const { name, value } = placement;
  if (placement.in === "query") return { ...request, url: withQuery(request.url, name, value) };
  // The segment occurs only in the base URL, because svc encodes braces in the rest of the URL.
  if (placement.in === "path") return { ...request, url: request.url.replace(keySegment, () => segmentOf(value)) };
  const others = Object.entries(request.headers).filter(([other]) => other.toLowerCase() !== name.toLowerCase());
  return { ...request, headers: { ...Object.fromEntries(others), [name]: value } };
}

/** Returns a key as a path segment. Characters that a segment may contain stay as they are (RFC 3986, 3.3), such as `:`. */
function segmentOf(key: string): string {
  return encodeURIComponent(key).replaceAll(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}

/**
 * Returns the URL with the query parameter `name` set to `value`. The URL is changed as text, so that the other query parameters keep their
 * encoding.
 */
function withQuery(url: string, name: string, value: string): string {
  const [path = "", query = ""] = splitOnce(url, "?");
  const others = query.split("&").filter((pair) => pair !== "" && nameOf(pair) !== name);
  return `${path}?${[...others, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`].join("&")}`;
}

function splitOnce(text: string, at: string): string[] {
  const index = text.indexOf(at);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function nameOf(pair: string): string {
  return [...new URLSearchParams(pair).keys()][0] ?? "";
}
