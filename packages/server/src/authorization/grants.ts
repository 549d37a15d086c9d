import { type Clock, generateToken, type KeyId, type ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { findGrantToken } from "@svc/db/grants/tokens";
import { type CallerKey, findCallerKeyById, findKeyById } from "@svc/db/keys/repo";
import { createFreshCache } from "../auth/fresh-cache.ts";
import { isValidKey } from "../auth/key-cache.ts";
import { storeDeadlineMs } from "../store-deadline.ts";

/** Grant of an access token: the key that its calls use, and the address that accepts it. */
type CallerGrant = {
  readonly key: CallerKey;
  /** Key with which a person gave the grant. */
  readonly voucherKeyId: KeyId;
  readonly resource: string;
  readonly expiresAt: number;
};

/** Cache of grants by the digests of their access tokens, at most one second old. */
export type GrantCache = {
  /** Returns undefined if the token is unknown or its grant has ended. Rejects if the database is unavailable or too slow. */
  find(digest: Buffer): Promise<CallerGrant | undefined> | CallerGrant | undefined;
  /** Removes the grants that use a key or were given with it. The node that ends a key or grant calls it. */
  forget(id: KeyId): void;
  /** Removes the grants of a project. The node that changes the project's quotas calls it. */
  forgetProject(id: ProjectId): void;
};

/** Creates the cache. */
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

/** Prefixes of codes and tokens. They differ from those of API keys, and secret scanners find them. */
const prefixes = { code: "svcac_", access: "svcat_", refresh: "svcrt_" } as const;

/** Returns a new code or token: a prefix and 32 random bytes. */
export function generateText(kind: keyof typeof prefixes): string {
  return `${prefixes[kind]}${generateToken()}`;
}

/** True if a bearer has the prefix of an access token. */
export function isAccessToken(bearer: string): boolean {
  return bearer.startsWith(prefixes.access);
}
