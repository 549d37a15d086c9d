import { createSealer, SealError, type Sealer } from "../crypto/seal.ts";
import { coreFaults } from "../faults/faults.ts";

/** What a page token is good for: one call of one project with these filters. An undefined filter is an absent one. */
export type PageScope = {
  call: string;
  projectId: string;
  filters: Record<string, string | number | boolean | readonly string[] | undefined>;
};

/** Bounds of a list's page size. `fallback` (50) stands for a requested 0; `max` (500) cuts what is above it. */
export type PageSizeBounds = { fallback?: number; max?: number };

const tokenSealers = new WeakMap<Sealer, Sealer>();

/** Seals the position after a page's last row for the client to bring back. Base64url, opaque, of no use outside `scope`. */
export function sealPageToken(sealer: Sealer, scope: PageScope, position: string): string {
  const sealed = tokenSealer(sealer).seal(Buffer.from(position, "utf8"), scopeContext(scope));
  return sealed.toString("base64url");
}

/**
 * Reads back the position of a token. Throws invalid_argument PAGE_TOKEN_INVALID on `pageToken` when this service
 * did not make it, or made it for another call, project or filters. An empty token is the caller's to handle.
 */
export function openPageToken(sealer: Sealer, scope: PageScope, token: string): string {
  const sealed = Buffer.from(token, "base64url");
  // Decoding skips foreign characters and spare bits; only the text that was handed out is accepted.
  if (sealed.toString("base64url") !== token) throw coreFaults.PAGE_TOKEN_INVALID(token);
  try {
    return tokenSealer(sealer).open(sealed, scopeContext(scope)).toString("utf8");
  } catch (err) {
    if (err instanceof SealError) throw coreFaults.PAGE_TOKEN_INVALID(token);
    throw err;
  }
}

/** The page size to use for a requested one: 0 means the fallback, above the maximum means the maximum. Negative throws invalid_argument PAGE_SIZE_NEGATIVE. */
export function pageSizeOf(requested: number, { fallback = 50, max = 500 }: PageSizeBounds = {}): number {
  if (requested < 0) throw coreFaults.PAGE_SIZE_NEGATIVE(requested, max);
  return requested === 0 ? fallback : Math.min(requested, max);
}

// Tokens are numerous and handed out: they get keys of their own, not the vault's.
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
