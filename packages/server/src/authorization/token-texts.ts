import { generateToken } from "@svc/core";

/** Prefixes of what clients are given: they tell these from keys, and scanners find them. */
const prefixes = { code: "svcac_", access: "svcat_", refresh: "svcrt_" } as const;

/** A new code or token: 32 random bytes behind a prefix. */
export function generateText(kind: keyof typeof prefixes): string {
  return `${prefixes[kind]}${generateToken()}`;
}

/** Whether a bearer has the form of an access token. */
export function isAccessToken(bearer: string): boolean {
  return bearer.startsWith(prefixes.access);
}
