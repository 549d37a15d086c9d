import type { Clock, KeyId } from "@svc/core";
import { type ApiKey, type Executor, findApiKeyByDigest } from "@svc/db";
import { storeDeadlineMs, withinDeadline } from "../store-deadline.ts";

/** API keys by the digest of their text, as the store had them at most a second ago. */
export type KeyCache = {
  /** The key, also when it is expired or revoked; undefined when there is none. Rejects when the store is away or late. */
  find(digest: Buffer): Promise<ApiKey | undefined> | ApiKey | undefined;
  /** Forgets a key, so that the next call reads it anew: for the node that revokes it. */
  forget(id: KeyId): void;
};

type Entry = { key: ApiKey | undefined; untilMs: number };

/** So long a revocation may take to act on another node. */
const freshMs = 1_000;
// Known keys are as many as are in use. Unknown ones are as many as somebody cares to try, so they are few here.
const knownMax = 10_000;
const unknownMax = 1_000;

/** What keys are read with; a lookup rejects with StoreLateError after `deadlineMs`, 15 s unless stated. */
export type KeyCacheOptions = { db: Executor; clock: Clock; deadlineMs?: number };

/** Makes the cache; lookups of one key at the same time share one query. */
export function createKeyCache({ db, clock, deadlineMs = storeDeadlineMs }: KeyCacheOptions): KeyCache {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  let loading = new Map<string, Promise<ApiKey | undefined>>();

  const load = async (digest: Buffer, text: string, mine: typeof loading): Promise<ApiKey | undefined> => {
    const untilMs = clock.now() + freshMs;
    try {
      const key = await withinDeadline(findApiKeyByDigest(db, digest), deadlineMs);
      // After a `forget` this answer may be older than the revocation: it serves its caller and is not kept.
      if (mine === loading) {
        if (key === undefined) put(unknown, unknownMax, text, { key, untilMs });
        else put(known, knownMax, text, { key, untilMs });
      }
      return key;
    } finally {
      mine.delete(text);
    }
  };
  return {
    find(digest) {
      const text = digest.toString("latin1");
      const entry = known.get(text) ?? unknown.get(text);
      if (entry !== undefined && entry.untilMs > clock.now()) return entry.key;
      let found = loading.get(text);
      if (found === undefined) {
        found = load(digest, text, loading);
        loading.set(text, found);
      }
      return found;
    },
    forget(id) {
      loading = new Map();
      for (const [text, { key }] of known) if (key?.id === id) known.delete(text);
    },
  };
}

/** Keeps at most `max` entries, the latest ones. */
function put(entries: Map<string, Entry>, max: number, text: string, entry: Entry): void {
  entries.delete(text);
  entries.set(text, entry);
  if (entries.size <= max) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
