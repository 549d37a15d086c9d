import { type ConfirmRule, isoTime, type KeyId, noConfirmRule, type ProjectId, type Quotas, uuidOfId } from "@svc/core";
import { and, desc, eq, getTableColumns, gt, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { apiKeys, projectPolicies } from "../schema/index.ts";
import { arrayLiteral } from "../sql/statement.ts";
import { endSubscriptionsOfKey } from "../subscriptions/routing.ts";

/** An API key as stored: everything except its text. */
export type ApiKey = typeof apiKeys.$inferSelect;

/** A key to store, without limits unless it contains them. */
export type NewApiKey = typeof apiKeys.$inferInsert;

/** The key of a caller, with its project's configured quotas and confirmation rule. */
export type CallerKey = ApiKey & { readonly quotas: Quotas; readonly projectConfirm: ConfirmRule };

/** Stores a key. A duplicate digest is a unique violation of `api_keys_digest`. */
export async function createApiKey(db: Executor, key: NewApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key);
}

/** Stores a key unless its digest exists, revoked or not. */
export async function ensureApiKey(db: Executor, key: NewApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key).onConflictDoNothing({ target: apiKeys.digest });
}

/** A lookup, because a join read all policies. */
const quotasOfKey = sql<Quotas | null>`(
  select p.quotas from project_policies p where p.project_id = api_keys.project_id)`.mapWith(projectPolicies.quotas);
const confirmOfProject = sql<ConfirmRule | null>`(
  select p.confirm from project_policies p where p.project_id = api_keys.project_id)`.mapWith(projectPolicies.confirm);

/** Returns the key with this digest, even if it is expired or revoked; by the unique index, and the policy by its project. */
export function findCallerKey(db: Executor, digest: Buffer): Promise<CallerKey | undefined> {
  return findOneCallerKey(db, eq(apiKeys.digest, digest));
}

/** The same by its id, for callers that do not present its text. */
export function findCallerKeyById(db: Executor, id: KeyId): Promise<CallerKey | undefined> {
  return findOneCallerKey(db, eq(apiKeys.id, id));
}

async function findOneCallerKey(db: Executor, isMeant: SQL): Promise<CallerKey | undefined> {
  const [key] = await db.orm
    .select({ ...getTableColumns(apiKeys), quotas: quotasOfKey, projectConfirm: confirmOfProject })
    .from(apiKeys)
    .where(isMeant);
  return key && { ...key, quotas: key.quotas ?? {}, projectConfirm: key.projectConfirm ?? noConfirmRule };
}

/** Returns the key with this id, even if it is expired or revoked. */
export async function findKeyById(db: Executor, id: KeyId): Promise<ApiKey | undefined> {
  const [key] = await db.orm.select().from(apiKeys).where(eq(apiKeys.id, id));
  return key;
}

/** Locks a key's row until the end of the transaction; waits for other changes of it. */
export async function lockApiKey(db: Executor, id: KeyId): Promise<void> {
  await db.orm.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id)).for("update");
}

/** Returns a project's keys, newest first, after `after`. */
export function listApiKeys(
  db: Executor,
  projectId: ProjectId,
  page: { after: KeyId | undefined; limit: number },
): Promise<ApiKey[]> {
  return db.orm
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.projectId, projectId), page.after === undefined ? undefined : lt(apiKeys.id, page.after)))
    .orderBy(desc(apiKeys.id))
    .limit(page.limit);
}

/** Returns the keys that a key created for agents, newest first, after `after`; by api_keys_maker. */
export function listMadeKeys(
  db: Executor,
  makerKeyId: KeyId,
  page: { after: KeyId | undefined; limit: number },
): Promise<ApiKey[]> {
  return db.orm
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.makerKeyId, makerKeyId), page.after === undefined ? undefined : lt(apiKeys.id, page.after)))
    .orderBy(desc(apiKeys.id))
    .limit(page.limit);
}

/** Returns how many keys created by a key are neither revoked nor expired. */
export function countMadeKeys(db: Executor, makerKeyId: KeyId, nowMs: number): Promise<number> {
  const isLive = and(isNull(apiKeys.revokedAt), gt(apiKeys.expiresAt, nowMs));
  return db.orm.$count(apiKeys, and(eq(apiKeys.makerKeyId, makerKeyId), isLive));
}

/** A revoked key, and all keys that ended with it: itself and those it created. */
export type RevokedKey = { readonly key: ApiKey; readonly endedIds: readonly KeyId[] };

/**
 * Revokes a key and the keys it created, and ends their agents' subscriptions; a key already revoked keeps its time. Undefined if there is
 * no such key.
 */
export async function revokeApiKey(db: Executor, id: KeyId, nowMs: number): Promise<RevokedKey | undefined> {
  return withTransaction(db, async (tx) => {
    // The key itself first: creating a key locks its maker's row, so no key is created after this.
    const ended = [
      ...(await endKeys(tx, eq(apiKeys.id, id), nowMs)),
      ...(await endKeys(tx, eq(apiKeys.makerKeyId, id), nowMs)),
    ];
    for (const one of ended) await endSubscriptionsOfKey(tx, { ...one, nowMs });
    const key = await findKeyById(tx, id);
    return key && { key, endedIds: ended.map(({ keyId }) => keyId) };
  });
}

function endKeys(tx: Executor, isMeant: SQL, nowMs: number): Promise<{ projectId: ProjectId; keyId: KeyId }[]> {
  return tx.orm
    .update(apiKeys)
    .set({ revokedAt: nowMs })
    .where(and(isMeant, isNull(apiKeys.revokedAt)))
    .returning({ projectId: apiKeys.projectId, keyId: apiKeys.id });
}

/** Stores that keys were used; a later time stays. */
export async function touchApiKeys(db: Executor, ids: readonly KeyId[], nowMs: number): Promise<void> {
  const uuids = arrayLiteral(ids.map(uuidOfId));
  await db.orm
    .update(apiKeys)
    .set({ lastUsedAt: nowMs })
    .where(
      sql`${apiKeys.id} = any(${uuids}::uuid[]) and (${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < ${isoTime(nowMs)}::timestamptz)`,
    );
}
