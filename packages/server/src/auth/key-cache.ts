import { type ContextKey, createContextKey } from "@connectrpc/connect";
import {
  bindingOf,
  type Clock,
  confirmRulesOf,
  coreFaults,
  type KeyId,
  type ProjectId,
  type ProjectPrincipal,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type CallerKey, findCallerKey } from "@svc/db/keys/repo";
import { storeDeadlineMs } from "../store-deadline.ts";
import { createFreshCache } from "./fresh-cache.ts";

/** Caches API keys by the digest of their text for at most a second, with their project's quotas and confirmation policy. */
export type KeyCache = {
  /**
   * Returns the key whose text has this digest, even if the key is expired or revoked. Returns undefined if such a key does not exist.
   * Rejects if the database is unavailable or too slow.
   */
  find(digest: Buffer): Promise<CallerKey | undefined> | CallerKey | undefined;
  /** Removes a key from the cache, so that the next call reads it again. The node that revokes the key calls this function. */
  forget(id: KeyId): void;
  /** Removes the keys of a project from the cache. The node that changes the project's quotas calls this function. */
  forgetProject(id: ProjectId): void;
};

/** Dependencies of reading keys. A lookup rejects with StoreLateError after `deadlineMs`, default 15 s. */
type KeyCacheOptions = { db: Executor; clock: Clock; deadlineMs?: number };

/** Creates the cache of API keys. Simultaneous lookups of a key share one query. */
export function createKeyCache({ db, clock, deadlineMs = storeDeadlineMs }: KeyCacheOptions): KeyCache {
  const keys = createFreshCache({ clock, deadlineMs, load: (digest) => findCallerKey(db, digest) });
  return {
    find: keys.find,
    forget: (id) => keys.forgetWhere((key) => key.id === id),
    forgetProject: (id) => keys.forgetWhere((key) => key.projectId === id),
  };
}

/** True if a key is not revoked and not expired. */
export function isValidKey(key: Pick<CallerKey, "revokedAt" | "expiresAt">, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > nowMs);
}

/**
 * Returns the caller (principal) that a key stands for: its project and role, and the scope to which the key is limited. Throws
 * PROJECT_MOVING if the project moves or has moved to another cell.
 */
export function projectPrincipalOf(key: CallerKey): ProjectPrincipal {
  const { id: keyId, projectId, role, quotas, projectConfirm, confirm: own, agentTools } = key;
  if (key.hold !== "") throw coreFaults.PROJECT_MOVING(key.hold, key.movedTo);
  const confirm = confirmRulesOf(projectConfirm, own);
  const known = {
    kind: "project",
    projectId,
    keyId,
    role,
    quotas,
    binding: bindingOf(key),
    confirm,
    agentTools,
  } as const;
  if (key.purpose !== "portal") return known;
  return { ...known, portal: { entityId: key.entityId, isReadOnly: key.accessClasses.length > 0 } };
}

/**
 * Waits for the lookup of a key and returns its result. During the wait, the body of the request is not read. With a plain `await`, Node
 * would continue to read the body into memory, although the sender may have no valid key.
 */
export type KeyLookupWait = <Found>(lookup: Promise<Found>) => Promise<Found>;

/**
 * Place in the Connect context for the KeyLookupWait of a call. The HTTP layer stores the function there, and the check of the API key
 * calls it.
 */
export const keyLookupContext: ContextKey<KeyLookupWait | undefined> = createContextKey<KeyLookupWait | undefined>(
  undefined,
  { description: "svc key lookup" },
);
