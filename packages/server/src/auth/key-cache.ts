import { type ContextKey, createContextKey } from "@connectrpc/connect";
import { bindingOf, type Clock, confirmRulesOf, type KeyId, type ProjectId, type ProjectPrincipal } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type CallerKey, findCallerKey } from "@svc/db/keys/repo";
import { storeDeadlineMs } from "../store-deadline.ts";
import { createFreshCache } from "./fresh-cache.ts";

/** API keys by the digest of their text, each with its project's quotas and what a person confirms of their calls, as the store had them at most a second ago. */
export type KeyCache = {
  /** The key, also when it is expired or revoked; undefined when there is none. Rejects when the store is away or late. */
  find(digest: Buffer): Promise<CallerKey | undefined> | CallerKey | undefined;
  /** Forgets a key, so that the next call reads it anew: for the node that revokes it. */
  forget(id: KeyId): void;
  /** Forgets the keys of a project: for the node that changes its quotas. */
  forgetProject(id: ProjectId): void;
};

/** What keys are read with; a lookup rejects with StoreLateError after `deadlineMs`, 15 s unless stated. */
type KeyCacheOptions = { db: Executor; clock: Clock; deadlineMs?: number };

/** Makes the cache; lookups of one key at the same time share one query. */
export function createKeyCache({ db, clock, deadlineMs = storeDeadlineMs }: KeyCacheOptions): KeyCache {
  const keys = createFreshCache({ clock, deadlineMs, load: (digest) => findCallerKey(db, digest) });
  return {
    find: keys.find,
    forget: (id) => keys.forgetWhere((key) => key.id === id),
    forgetProject: (id) => keys.forgetWhere((key) => key.projectId === id),
  };
}

/** Whether a key is neither revoked nor expired. */
export function isValidKey(key: Pick<CallerKey, "revokedAt" | "expiresAt">, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > nowMs);
}

/** Whoever calls with a key, bound as the key is. */
export function projectPrincipalOf(key: CallerKey): ProjectPrincipal {
  const { id: keyId, projectId, role, quotas, projectConfirm, confirm: own, agentTools } = key;
  const confirm = confirmRulesOf(projectConfirm, own);
  return { kind: "project", projectId, keyId, role, quotas, binding: bindingOf(key), confirm, agentTools };
}

/** Waits for a key that the store is asked for, in place of a plain `await`: for what is to be held back meanwhile. */
export type KeyLookupWait = <Found>(lookup: Promise<Found>) => Promise<Found>;

/** Where the HTTP layer leaves a call's KeyLookupWait for the gate. */
export const keyLookupContext: ContextKey<KeyLookupWait | undefined> = createContextKey<KeyLookupWait | undefined>(
  undefined,
  { description: "svc key lookup" },
);
