import type { ServerResponse } from "node:http";

const policyFor = (frameAncestors: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    `frame-ancestors ${frameAncestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

const headers: readonly (readonly [string, string])[] = [
  ["content-security-policy", policyFor("'none'")],
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  // Answers without a file, such as refusals, are never cached; a file sets its own value. Otherwise a proxy could cache the 404 of a
  // missing file, and a page of the next version could not load it.
  ["cache-control", "no-store"],
];

/** Sets the headers of every answer of the console and the documentation, including refusals. */
export function setPageHeaders(res: ServerResponse): void {
  for (const [name, value] of headers) res.setHeader(name, value);
}

/**
 * Lets pages of the given origins embed the page that is sent with `res` in a frame. Without this call, other sites cannot embed the page.
 * Call it after `setPageHeaders`.
 */
export function allowFrames(res: ServerResponse, origins: readonly string[]): void {
  if (origins.length > 0) res.setHeader("content-security-policy", policyFor(origins.join(" ")));
}

/** Returns a path of the service as browsers use it, such as `/svc/console/` if a proxy serves the service below `/svc`. */
export function publicPath(publicUrl: string | undefined, path: string): string {
  const prefix = publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
  return `${prefix}${path}`;
}
