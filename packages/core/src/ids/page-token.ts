import { createSealer, SealError, type Sealer } from "../crypto/seal.ts";
import { coreFaults } from "../faults/faults.ts";

/** Scope of a page token: one call, one project, and the filters of the call. An undefined filter is the same as an absent one. */
export type PageScope = {
  call: string;
  projectId: string;
  filters: Record<string, string | number | boolean | readonly string[] | undefined>;
};

/** Limits of a list's page size. `fallback`: page size if the request has 0 (default 50). `max`: maximum page size (default 500). */
export type PageSizeBounds = { fallback?: number; max?: number };

const tokenSealers = new WeakMap<Sealer, Sealer>();

/**
 * Returns a page token: the position after the last row of a page, sealed and in base64url. The client cannot read the token, and it is
 * valid only for `scope`.
 */
export function sealPageToken(sealer: Sealer, scope: PageScope, position: string): string {
  const sealed = tokenSealer(sealer).seal(Buffer.from(position, "utf8"), scopeContext(scope));
  return sealed.toString("base64url");
}

/**
 * Returns the position in a page token. Throws invalid_argument PAGE_TOKEN_INVALID on `pageToken` if svc did not create the token, or
 * created it for another call, project or filter. The caller of this function handles an empty token.
 */
export function openPageToken(sealer: Sealer, scope: PageScope, token: string): string {
  const sealed = Buffer.from(token, "base64url");
  // Only the exact text that svc issued is valid, because base64 decoding ignores foreign characters and unused bits.
  if (sealed.toString("base64url") !== token) throw coreFaults.PAGE_TOKEN_INVALID(token);
  try {
    return tokenSealer(sealer).open(sealed, scopeContext(scope)).toString("utf8");
  } catch (err) {
    if (err instanceof SealError) throw coreFaults.PAGE_TOKEN_INVALID(token);
    throw err;
  }
}

/**
 * Returns the page size for a requested size. 0 becomes `fallback`; a size above `max` becomes `max`. Throws invalid_argument
 * PAGE_SIZE_NEGATIVE if the size is negative.
 */
export function pageSizeOf(requested: number, { fallback = 50, max = 500 }: PageSizeBounds = {}): number {
  if (requested < 0) throw coreFaults.PAGE_SIZE_NEGATIVE(requested, max);
  return requested === 0 ? fallback : Math.min(requested, max);
}

// Returns a sealer with separate keys for page tokens, because many tokens leave the service.
function tokenSealer(sealer: Sealer): Sealer {
  const known = tokenSealers.get(sealer);
  if (known !== undefined) return known;
  const made = createSealer(sealer.subkeys("page token"));
  tokenSealers.set(sealer, made);
  return made;
}

function scopeContext({ call, projectId, filters }: PageScope): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  given.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([call, projectId, given]);
}
