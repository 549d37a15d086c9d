import { type Clock, LeastRecentlyUsed } from "@svc/core";
import { withinDeadline } from "../store-deadline.ts";

/** What the store has by the digests of secrets, as it was at most a second ago. */
export type FreshCache<Found> = {
  /** Undefined when there is none. Rejects when the store is away or late. */
  find(digest: Buffer): Promise<Found | undefined> | Found | undefined;
  /** Forgets what is meant, so that it is read anew the next time. */
  forgetWhere(isMeant: (found: Found) => boolean): void;
};

type Entry<Found> = { found: Found | undefined; untilMs: number };

/** So long what ends at another node may go on at this one. */
const freshMs = 1_000;
// Known ones are as many as are in use. Unknown ones are as many as somebody cares to try, so they are few here.
const knownMax = 10_000;
const unknownMax = 1_000;

/** Makes the cache over `load`; lookups of one digest at the same time share one. They reject with StoreLateError after `deadlineMs`. */
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
      // After a `forget` this answer may be older than what it was for: it serves its caller and is not kept.
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
