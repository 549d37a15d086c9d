import { createSealer, SealError, type Sealer } from "../crypto/seal.ts";
import { coreFaults } from "../faults/faults.ts";

/** The call, project and filters for which a page token is valid. An undefined filter counts as absent. */
export type PageScope = {
  call: string;
  projectId: string;
  filters: Record<string, string | number | boolean | readonly string[] | undefined>;
};

/** Limits of a list's page size. `fallback`: page size if the request has 0 (default 50). `max`: maximum page size (default 500). */
export type PageSizeBounds = { fallback?: number; max?: number };

const tokenSealers = new WeakMap<Sealer, Sealer>();

/**
 * Returns a page token: the position after the last row of a page, encrypted, in base64url. Clients cannot read it. It is valid only for
 * the same call, project and filters (`scope`).
 */
export function sealPageToken(sealer: Sealer, scope: PageScope, position: string): string {
  const sealed = tokenSealer(sealer).seal(Buffer.from(position, "utf8"), scopeContext(scope));
  return sealed.toString("base64url");
}

/**
 * Returns the position that is encrypted in a page token. Throws PAGE_TOKEN_INVALID (code invalid_argument, field `pageToken`) if svc did
 * not create the token for this call, project and filter. The token must not be empty: the caller handles the empty token, which means the
 * first page.
 */
export function openPageToken(sealer: Sealer, scope: PageScope, token: string): string {
  const sealed = Buffer.from(token, "base64url");
  // A page token is valid only if it is exactly the text that svc returned. Decoding base64 also accepts texts with foreign characters or
  // with other unused bits.
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

// Returns a sealer that encrypts page tokens with its own keys. Many tokens leave the service, so they do not use the keys of stored
// values.
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
