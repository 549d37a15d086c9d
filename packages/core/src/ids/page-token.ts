import { createSealer, SealError, type Sealer } from "../crypto/seal.ts";
import { coreFaults } from "../faults/faults.ts";

/** Scope of a page token: one call of one project with these filters. An undefined filter is absent. */
export type PageScope = {
  call: string;
  projectId: string;
  filters: Record<string, string | number | boolean | readonly string[] | undefined>;
};

/** Limits of a list's page size. `fallback` (50) replaces a requested 0; `max` (500) is the maximum. */
export type PageSizeBounds = { fallback?: number; max?: number };

const tokenSealers = new WeakMap<Sealer, Sealer>();

/** Seals the position after a page's last row as a token for the client. Base64url, opaque, and valid only for `scope`. */
export function sealPageToken(sealer: Sealer, scope: PageScope, position: string): string {
  const sealed = tokenSealer(sealer).seal(Buffer.from(position, "utf8"), scopeContext(scope));
  return sealed.toString("base64url");
}

/**
 * Returns the position in a token. Throws invalid_argument PAGE_TOKEN_INVALID on `pageToken` if svc did not create it, or created it for
 * another call, project or filters. The caller handles an empty token.
 */
export function openPageToken(sealer: Sealer, scope: PageScope, token: string): string {
  const sealed = Buffer.from(token, "base64url");
  // Decoding ignores foreign characters and spare bits; only the exact issued text is accepted.
  if (sealed.toString("base64url") !== token) throw coreFaults.PAGE_TOKEN_INVALID(token);
  try {
    return tokenSealer(sealer).open(sealed, scopeContext(scope)).toString("utf8");
  } catch (err) {
    if (err instanceof SealError) throw coreFaults.PAGE_TOKEN_INVALID(token);
    throw err;
  }
}

/**
 * Returns the page size for a requested one: 0 means the fallback, above the maximum means the maximum. Throws invalid_argument
 * PAGE_SIZE_NEGATIVE if negative.
 */
export function pageSizeOf(requested: number, { fallback = 50, max = 500 }: PageSizeBounds = {}): number {
  if (requested < 0) throw coreFaults.PAGE_SIZE_NEGATIVE(requested, max);
  return requested === 0 ? fallback : Math.min(requested, max);
}

// Many tokens leave the service, so they use separate keys, not the vault's.
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
