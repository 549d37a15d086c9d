import { type Clock, LeastRecentlyUsed } from "@svc/core";
import { withinDeadline } from "../store-deadline.ts";

/** Caches database rows for at most a second. The cache key is the digest of a secret, for example of an API key. */
export type FreshCache<Found> = {
  /**
   * Returns the cached row for a digest, or reads it from the database. Returns undefined if the database has no row for the digest.
   * Rejects if the database is unavailable or too slow.
   */
  find(digest: Buffer): Promise<Found | undefined> | Found | undefined;
  /** Removes cached entries for which `isMeant` returns true, so that they are read from the database again. */
  forgetWhere(isMeant: (found: Found) => boolean): void;
};

type Entry<Found> = { found: Found | undefined; untilMs: number };

/**
 * Milliseconds after which, at the latest, this node applies a change that a different node made to a key or session, such as its
 * revocation.
 */
const freshMs = 1_000;
// Maximum number of cached digests that have a row. Digests without a row are cached separately, at most `unknownMax`, because callers may
// try any number of secrets.
const knownMax = 10_000;
const unknownMax = 1_000;

/**
 * Creates a cache of database rows. `load` reads the row for a digest. Simultaneous lookups of the same digest share one call of `load`.
 * They reject with StoreLateError after `deadlineMs`.
 */
export function createFreshCache<Found extends object>({
  clock,
  deadlineMs,
  load: loadOne,
}: {
  clock: Clock;
  deadlineMs: number;
  load: (digest: Buffer) => Promise<Found | undefined>;
}): FreshCache<Found> {
  const known = new LeastRecentlyUsed<string, Entry<Found>>(knownMax);
  const unknown = new LeastRecentlyUsed<string, Entry<Found>>(unknownMax);
  let loading = new Map<string, Promise<Found | undefined>>();

  const load = async (digest: Buffer, text: string, mine: typeof loading): Promise<Found | undefined> => {
    const untilMs = clock.now() + freshMs;
    try {
      const found = await withinDeadline(loadOne(digest), deadlineMs);
      // If `forget` was called during the load, the result may be outdated. The caller gets it, but it is not cached.
      if (mine === loading) {
        if (found === undefined) {
          known.delete(text);
          unknown.set(text, { found, untilMs });
        } else known.set(text, { found, untilMs });
      }
      return found;
    } finally {
      mine.delete(text);
    }
  };
  return {
    find(digest) {
      const text = digest.toString("latin1");
      const entry = known.get(text) ?? unknown.get(text);
      if (entry !== undefined && entry.untilMs > clock.now()) return entry.found;
      let found = loading.get(text);
      if (found === undefined) {
        found = load(digest, text, loading);
        loading.set(text, found);
      }
      return found;
    },
    forgetWhere(isMeant) {
      loading = new Map();
      for (const [text, { found }] of known.entries()) if (found !== undefined && isMeant(found)) known.delete(text);
    },
  };
}
