import { type Clock, type KeyId, LeastRecentlyUsed, type ProjectId } from "@svc/core";
import { type CallerKey, type Executor, findCallerKey } from "@svc/db";
import { storeDeadlineMs, withinDeadline } from "../store-deadline.ts";

/** API keys by the digest of their text, each with its project's quotas, as the store had them at most a second ago. */
export type KeyCache = {
  /** The key, also when it is expired or revoked; undefined when there is none. Rejects when the store is away or late. */
  find(digest: Buffer): Promise<CallerKey | undefined> | CallerKey | undefined;
  /** Forgets a key, so that the next call reads it anew: for the node that revokes it. */
  forget(id: KeyId): void;
  /** Forgets the keys of a project: for the node that changes its quotas. */
  forgetProject(id: ProjectId): void;
};

type Entry = { key: CallerKey | undefined; untilMs: number };

/** So long a revocation, or a quota, may take to act on another node. */
const freshMs = 1_000;
// Known keys are as many as are in use. Unknown ones are as many as somebody cares to try, so they are few here.
const knownMax = 10_000;
const unknownMax = 1_000;

/** What keys are read with; a lookup rejects with StoreLateError after `deadlineMs`, 15 s unless stated. */
export type KeyCacheOptions = { db: Executor; clock: Clock; deadlineMs?: number };

/** Makes the cache; lookups of one key at the same time share one query. */
export function createKeyCache({ db, clock, deadlineMs = storeDeadlineMs }: KeyCacheOptions): KeyCache {
  const known = new LeastRecentlyUsed<string, Entry>(knownMax);
  const unknown = new LeastRecentlyUsed<string, Entry>(unknownMax);
  let loading = new Map<string, Promise<CallerKey | undefined>>();

  const load = async (digest: Buffer, text: string, mine: typeof loading): Promise<CallerKey | undefined> => {
    const untilMs = clock.now() + freshMs;
    try {
      const key = await withinDeadline(findCallerKey(db, digest), deadlineMs);
      // After a `forget` this answer may be older than the revocation: it serves its caller and is not kept.
      if (mine === loading) {
        if (key === undefined) unknown.set(text, { key, untilMs });
        else known.set(text, { key, untilMs });
      }
      return key;
    } finally {
      mine.delete(text);
    }
  };
  const forgetWhere = (isMeant: (key: CallerKey) => boolean) => {
    loading = new Map();
    for (const [text, { key }] of known.entries()) if (key !== undefined && isMeant(key)) known.delete(text);
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
    forget: (id) => forgetWhere((key) => key.id === id),
    forgetProject: (id) => forgetWhere((key) => key.projectId === id),
  };
}
