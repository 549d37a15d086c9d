/** Headers by which some servers carry out another method than that of the request; `-` stands for `_`, which they read alike. */
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

/** The same as parameters of a query or fields of a form; a field that is only called `method` is data of many apps. */
const fieldNames = new Set([
  "-method",
  "-http-method",
  "-httpmethod",
  "$method",
  "$http-method",
  "$httpmethod",
  "httpmethodoverride",
]);

/** True if a header, a parameter of a query or a field of a body asks some servers for another method than the request has. */
export function isMethodOverride(name: string): boolean {
  const normal = name.trim().toLowerCase().replaceAll("_", "-");
  return headerNames.has(normal) || fieldNames.has(normal);
}

/** What of a request has names. */
type NamedParts = {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Iterable<string>;
  /** Before it is written: an object, or a text as it is sent. */
  readonly body: unknown;
};

/** Returns the name of a part of a request that asks for another method; undefined if none does. */
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
