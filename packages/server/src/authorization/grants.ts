import { type Clock, generateToken, type KeyId, type ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { findGrantToken } from "@svc/db/grants/tokens";
import { type CallerKey, findCallerKeyById, findKeyById } from "@svc/db/keys/repo";
import { createFreshCache } from "../auth/fresh-cache.ts";
import { isValidKey } from "../auth/key-cache.ts";
import { storeDeadlineMs } from "../store-deadline.ts";

/** An access token's grant: the key that its calls are made as, and where it is good. */
type CallerGrant = {
  readonly key: CallerKey;
  /** The key by which a person gave it. */
  readonly voucherKeyId: KeyId;
  readonly resource: string;
  readonly expiresAt: number;
};

/** Grants by the digests of their access tokens, as the store had them at most a second ago. */
export type GrantCache = {
  /** Undefined where there is none, or its grant has ended. Rejects when the store is away or late. */
  find(digest: Buffer): Promise<CallerGrant | undefined> | CallerGrant | undefined;
  /** Forgets the grants of a key, or that it vouches for: for the node that ends one. */
  forget(id: KeyId): void;
  /** Forgets those of a project: for the node that changes its quotas. */
  forgetProject(id: ProjectId): void;
};

/** Makes the cache over the store. */
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

/** Prefixes of what clients are given: they tell these from keys, and scanners find them. */
const prefixes = { code: "svcac_", access: "svcat_", refresh: "svcrt_" } as const;

/** A new code or token: 32 random bytes behind a prefix. */
export function generateText(kind: keyof typeof prefixes): string {
  return `${prefixes[kind]}${generateToken()}`;
}

/** Whether a bearer has the form of an access token. */
export function isAccessToken(bearer: string): boolean {
  return bearer.startsWith(prefixes.access);
}
