import type { ServerResponse } from "node:http";

/** Where the console is served: below this path, and at it without its slash. */
export const consolePath = "/console/";

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
  // Of refusals: files say otherwise. A proxy that keeps the 404 of a file would hide it from a page of the next version.
  ["cache-control", "no-store"],
];

/** Whether a path is the console's. */
export function isConsolePath(path: string): boolean {
  return path.startsWith(consolePath) || path === "/console";
}

/** Sets the headers that every answer below `/console/` has, its refusals too. */
export function setConsoleHeaders(res: ServerResponse): void {
  for (const [name, value] of headers) res.setHeader(name, value);
}
