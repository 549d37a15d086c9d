import { type ConfirmRule, isoTime, type KeyId, noConfirmRule, type ProjectId, type Quotas, uuidOfId } from "@svc/core";
import { and, desc, eq, getTableColumns, gt, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { apiKeys, projectPolicies } from "../schema/index.ts";
import { arrayLiteral } from "../sql/statement.ts";
import { endSubscriptionsOfKey } from "../subscriptions/routing.ts";

/** An API key as it is stored: everything but its text. */
export type ApiKey = typeof apiKeys.$inferSelect;

/** A key to be stored; it is bound to nothing unless it says so. */
export type NewApiKey = typeof apiKeys.$inferInsert;

/** The key of a caller, with what is set of its project's quotas, and which calls its project has a person confirm. */
export type CallerKey = ApiKey & { readonly quotas: Quotas; readonly projectConfirm: ConfirmRule };

/** Stores a key. The same digest twice is a unique violation of `api_keys_digest`. */
export async function createApiKey(db: Executor, key: NewApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key);
}

/** Stores a key unless its digest is known already, revoked or not. */
export async function ensureApiKey(db: Executor, key: NewApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key).onConflictDoNothing({ target: apiKeys.digest });
}

/** Looked up: joined, policies were read as a whole. */
const quotasOfKey = sql<Quotas | null>`(
  select p.quotas from project_policies p where p.project_id = api_keys.project_id)`.mapWith(projectPolicies.quotas);
const confirmOfProject = sql<ConfirmRule | null>`(
  select p.confirm from project_policies p where p.project_id = api_keys.project_id)`.mapWith(projectPolicies.confirm);

/** The key with this digest, also when it is expired or revoked; served by the unique index, the policy by its project. */
export function findCallerKey(db: Executor, digest: Buffer): Promise<CallerKey | undefined> {
  return findOneCallerKey(db, eq(apiKeys.digest, digest));
}

/** The same by its id, for callers that show something else than its text. */
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

/** The key with this id, also when it is expired or revoked. */
export async function findKeyById(db: Executor, id: KeyId): Promise<ApiKey | undefined> {
  const [key] = await db.orm.select().from(apiKeys).where(eq(apiKeys.id, id));
  return key;
}

/** Waits for whoever else changes this key, and lets nobody do so until the end of the transaction. */
export async function lockApiKey(db: Executor, id: KeyId): Promise<void> {
  await db.orm.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id)).for("update");
}

/** A project's keys, newest first, from after `after`. */
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

/** Keys that a key made for agents, newest first, from after `after`; by api_keys_maker. */
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

/** Returns how many keys that a key made are neither revoked nor expired. */
export function countMadeKeys(db: Executor, makerKeyId: KeyId, nowMs: number): Promise<number> {
  const isLive = and(isNull(apiKeys.revokedAt), gt(apiKeys.expiresAt, nowMs));
  return db.orm.$count(apiKeys, and(eq(apiKeys.makerKeyId, makerKeyId), isLive));
}

/** A key that was revoked, and all keys that ended with it: itself and those that it made. */
export type RevokedKey = { readonly key: ApiKey; readonly endedIds: readonly KeyId[] };

/**
 * Revokes a key now with the keys that it made, and ends what agents subscribed to with them; one that was revoked before keeps its time.
 * Undefined when there is no such key.
 */
export async function revokeApiKey(db: Executor, id: KeyId, nowMs: number): Promise<RevokedKey | undefined> {
  return withTransaction(db, async (tx) => {
    // The key before those that it made: who makes one holds the key's row, so none is made after this.
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

/** Notes that keys were used; a later time stays. */
export async function touchApiKeys(db: Executor, ids: readonly KeyId[], nowMs: number): Promise<void> {
  const uuids = arrayLiteral(ids.map(uuidOfId));
  await db.orm
    .update(apiKeys)
    .set({ lastUsedAt: nowMs })
    .where(
      sql`${apiKeys.id} = any(${uuids}::uuid[]) and (${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < ${isoTime(nowMs)}::timestamptz)`,
    );
}
