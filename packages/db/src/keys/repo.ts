import { type KeyId, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { apiKeys } from "../schema/index.ts";

/** An API key as it is stored: everything but its text. */
export type ApiKey = typeof apiKeys.$inferSelect;

/** Stores a key. The same digest twice is a unique violation of `api_keys_digest`. */
export async function createApiKey(db: Executor, key: ApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key);
}

/** Stores a key unless its digest is known already, revoked or not. */
export async function ensureApiKey(db: Executor, key: ApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key).onConflictDoNothing({ target: apiKeys.digest });
}

/** The key with this digest, also when it is expired or revoked; served by the unique index. */
export async function findApiKeyByDigest(db: Executor, digest: Buffer): Promise<ApiKey | undefined> {
  const [key] = await db.orm.select().from(apiKeys).where(eq(apiKeys.digest, digest));
  return key;
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

/** Revokes a key now; one that was revoked before keeps its time. Undefined when there is no such key. */
export async function revokeApiKey(db: Executor, id: KeyId, nowMs: number): Promise<ApiKey | undefined> {
  await db.orm
    .update(apiKeys)
    .set({ revokedAt: nowMs })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)));
  const [key] = await db.orm.select().from(apiKeys).where(eq(apiKeys.id, id));
  return key;
}

/** Notes that keys were used; a later time stays. */
export async function touchApiKeys(db: Executor, ids: readonly KeyId[], nowMs: number): Promise<void> {
  const uuids = arrayLiteral(ids.map(uuidOfId));
  await db.orm
    .update(apiKeys)
    .set({ lastUsedAt: nowMs })
    .where(
      sql`${apiKeys.id} = any(${uuids}::uuid[]) and (${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < ${new Date(nowMs).toISOString()}::timestamptz)`,
    );
}
