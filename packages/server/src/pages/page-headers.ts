import type { ServerResponse } from "node:http";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const headers: readonly (readonly [string, string])[] = [
  ["content-security-policy", policy],
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  // For refusals; files have their own value. A proxy that cached the 404 of a file would hide it from a page of the next version.
  ["cache-control", "no-store"],
];

/** Sets the headers of every answer of the console and the documentation, including refusals. */
export function setPageHeaders(res: ServerResponse): void {
  for (const [name, value] of headers) res.setHeader(name, value);
}

/** Returns the browser's path of a path of the service, such as `/svc/console/` behind a proxy that serves the service below `/svc`. */
export function publicPath(publicUrl: string | undefined, path: string): string {
  const prefix = publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
  return `${prefix}${path}`;
}
