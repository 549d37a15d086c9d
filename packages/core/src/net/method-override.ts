/**
 * Names of headers with which some servers replace the method of a request. A `-` here also matches `_`, because these servers treat both
 * alike.
 */
const headerNames = new Set([
  "x-http-method",
  "x-http-method-override",
  "x-http-override",
  "x-method",
  "x-method-override",
  "x-original-method",
  "http-method-override",
  "method-override",
]);

/**
 * Names of query parameters and form fields with which some servers replace the method of a request. `method` is left out, because many
 * apps use that name for ordinary data.
 */
const fieldNames = new Set([
  "-method",
  "-http-method",
  "-httpmethod",
  "$method",
  "$http-method",
  "$httpmethod",
  "httpmethodoverride",
]);

/**
 * True if some servers replace the method of a request because of a header, query parameter or body field with this name. False for all
 * other names.
 */
export function isMethodOverride(name: string): boolean {
  const normal = name.trim().toLowerCase().replaceAll("_", "-");
  return headerNames.has(normal) || fieldNames.has(normal);
}

/** Parts of a request that have names: headers, query parameters and body fields. */
type NamedParts = {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Iterable<string>;
  /** The body before encoding: an object, or the text that is sent. */
  readonly body: unknown;
};

/** Returns the name of a header, parameter or field that overrides the request's method; undefined if there is none. */
export function methodOverrideOf({ headers, query, body }: NamedParts): string | undefined {
  const names = Object.keys(headers);
  const contentType = names.find((name) => name.toLowerCase() === "content-type");
  const fields = fieldsOf(body, contentType === undefined ? "" : (headers[contentType] ?? ""));
  return [...names, ...query, ...fields].find(isMethodOverride);
}

function fieldsOf(body: unknown, contentType: string): readonly string[] {
  if (typeof body === "object" && body !== null) return Object.keys(body);
  if (typeof body !== "string") return [];
  if (/^\s*application\/x-www-form-urlencoded/i.test(contentType)) return [...new URLSearchParams(body).keys()];
  if (!/^\s*multipart\//i.test(contentType)) return [];
  return [...body.matchAll(/\bname\s*=\s*(?:"([^"]*)"|([^\s;]+))/gi)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}
