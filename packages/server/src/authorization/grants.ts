import { type Clock, generateToken, type KeyId, type ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { findGrantToken } from "@svc/db/grants/tokens";
import { type CallerKey, findCallerKeyById, findKeyById } from "@svc/db/keys/repo";
import { createFreshCache } from "../auth/fresh-cache.ts";
import { isValidKey } from "../auth/key-cache.ts";
import { storeDeadlineMs } from "../store-deadline.ts";

/**
 * The grant (a person's permission for an agent) that an access token belongs to: the key that its calls use, and the address at which the
 * token is valid.
 */
type CallerGrant = {
  readonly key: CallerKey;
  /** The key with which the person gave the grant (permission) to the agent. */
  readonly voucherKeyId: KeyId;
  readonly resource: string;
  readonly expiresAt: number;
};

/** Cache of grants (people's permissions for agents). Key: the digest of the access token. Entries are at most one second old. */
export type GrantCache = {
  /**
   * Returns the grant (a person's permission for an agent) of a token; undefined if the token is unknown or its grant has ended. Rejects if
   * the database is unavailable or too slow.
   */
  find(digest: Buffer): Promise<CallerGrant | undefined> | CallerGrant | undefined;
  /**
   * Removes from the cache the OAuth grants (people's permissions for agents) that use a key, and those that a person gave with this key.
   * The node that ends a key or a grant calls this function, so that the end takes effect at once.
   */
  forget(id: KeyId): void;
  /** Removes the grants of a project from the cache. The node that changes the project calls this function. */
  forgetProject(id: ProjectId): void;
};

/** Creates the cache of grants (people's permissions for agents). */
export function createGrantCache({ db, clock }: { db: Executor; clock: Clock }): GrantCache {
  const load = async (digest: Buffer): Promise<CallerGrant | undefined> => {
    const token = await findGrantToken(db, digest);
    if (token?.kind !== "access") return undefined;
    const { keyId, voucherKeyId, resource, expiresAt } = token;
    const [key, voucher] = await Promise.all([findCallerKeyById(db, keyId), findKeyById(db, voucherKeyId)]);
    if (key === undefined || voucher === undefined || !isValidKey(voucher, clock.now())) return undefined;
    return { key, voucherKeyId, resource, expiresAt };
  };
  const cache = createFreshCache({ clock, deadlineMs: storeDeadlineMs, load });
  return {
    find: cache.find,
    forget: (id) => cache.forgetWhere(({ key, voucherKeyId }) => key.id === id || voucherKeyId === id),
    forgetProject: (id) => cache.forgetWhere(({ key }) => key.projectId === id),
  };
}

/** Prefixes of authorization codes and tokens. They differ from the prefix of API keys, so that secret scanners can find each kind. */
const prefixes = { code: "svcac_", access: "svcat_", refresh: "svcrt_" } as const;

/** Returns a new code or token: a prefix and 32 random bytes. */
export function generateText(kind: keyof typeof prefixes): string {
  return `${prefixes[kind]}${generateToken()}`;
}

/** True if a bearer credential has the prefix of an access token. */
export function isAccessToken(bearer: string): boolean {
  return bearer.startsWith(prefixes.access);
}
