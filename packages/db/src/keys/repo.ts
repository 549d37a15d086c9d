import { type ConfirmRule, isoTime, type KeyId, noConfirmRule, type ProjectId, type Quotas, uuidOfId } from "@svc/core";
import { and, desc, eq, getTableColumns, gt, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { lockUnheld } from "../moves/hold.ts";
import { apiKeys, projectPolicies, projects } from "../schema/index.ts";
import type { ProjectHold } from "../schema/words.ts";
import { arrayLiteral } from "../sql/statement.ts";
import { endSubscriptionsOfKey } from "../subscriptions/routing.ts";

/** An API key of a project as stored: all of its data except its text, of which only a digest is stored. */
export type ApiKey = typeof apiKeys.$inferSelect;

/**
 * An API key to store. A limit that is absent from this object (for example an entity) is not set, so the key is not limited in this
 * respect.
 */
export type NewApiKey = typeof apiKeys.$inferInsert;

/** The key with which a caller authenticates, together with its project's quotas and the project's rule for confirmed calls. */
export type CallerKey = ApiKey & {
  readonly quotas: Quotas;
  readonly projectConfirm: ConfirmRule;
  /** The state of a move of the project to another cell, and that cell. Both are empty if the project works here. */
  readonly hold: ProjectHold;
  readonly movedTo: string;
};

/** Stores a key. If a key with the same digest exists, throws a unique violation of `api_keys_digest`. */
export async function createApiKey(db: Executor, key: NewApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key);
}

/** Stores a key. Does nothing if a key with the same digest exists, even if that key is revoked. */
export async function ensureApiKey(db: Executor, key: NewApiKey): Promise<void> {
  await db.orm.insert(apiKeys).values(key).onConflictDoNothing({ target: apiKeys.digest });
}

/**
 * SQL that reads the quotas of a key's project in a subquery. The subquery looks up only the policy of this project. With a join,
 * PostgreSQL read the policies of all projects.
 */
const quotasOfKey = sql<Quotas | null>`(
  select p.quotas from project_policies p where p.project_id = api_keys.project_id)`.mapWith(projectPolicies.quotas);
const confirmOfProject = sql<ConfirmRule | null>`(
  select p.confirm from project_policies p where p.project_id = api_keys.project_id)`.mapWith(projectPolicies.confirm);
const holdOfProject = sql<ProjectHold>`(select p.hold from projects p where p.id = api_keys.project_id)`.mapWith(
  projects.hold,
);
const cellOfProject = sql<string>`(select p.moved_to from projects p where p.id = api_keys.project_id)`;

/**
 * Returns the key with this digest, even if the key is expired or revoked. Undefined if the digest is unknown. Uses the unique index of
 * digests.
 */
export function findCallerKey(db: Executor, digest: Buffer): Promise<CallerKey | undefined> {
  return findOneCallerKey(db, eq(apiKeys.digest, digest));
}

/** Returns the key with this id, as `findCallerKey` does. It is for callers that do not present the text of the key. */
export function findCallerKeyById(db: Executor, id: KeyId): Promise<CallerKey | undefined> {
  return findOneCallerKey(db, eq(apiKeys.id, id));
}

async function findOneCallerKey(db: Executor, isMeant: SQL): Promise<CallerKey | undefined> {
  const [key] = await db.orm
    .select({
      ...getTableColumns(apiKeys),
      ...{ quotas: quotasOfKey, projectConfirm: confirmOfProject, hold: holdOfProject, movedTo: cellOfProject },
    })
    .from(apiKeys)
    .where(isMeant);
  return key && { ...key, quotas: key.quotas ?? {}, projectConfirm: key.projectConfirm ?? noConfirmRule };
}

/** Returns the key with this id, even if it is expired or revoked. */
export async function findKeyById(db: Executor, id: KeyId): Promise<ApiKey | undefined> {
  const [key] = await db.orm.select().from(apiKeys).where(eq(apiKeys.id, id));
  return key;
}

/** Locks a key's row until the end of the transaction. Waits until other transactions that change the row have ended. */
export async function lockApiKey(db: Executor, id: KeyId): Promise<void> {
  await db.orm.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id)).for("update");
}

/**
 * Returns the keys of a project with one purpose, newest first, beginning after the key `after`. The purpose says if the keys belong to
 * portal links or are ordinary API keys.
 */
export function listApiKeys(
  db: Executor,
  projectId: ProjectId,
  page: { after: KeyId | undefined; limit: number; purpose: ApiKey["purpose"] },
): Promise<ApiKey[]> {
  const isMeant = page.purpose === "portal" ? sql`${apiKeys.purpose} = 'portal'` : eq(apiKeys.purpose, page.purpose);
  return db.orm
    .select()
    .from(apiKeys)
    .where(
      and(eq(apiKeys.projectId, projectId), isMeant, page.after === undefined ? undefined : lt(apiKeys.id, page.after)),
    )
    .orderBy(desc(apiKeys.id))
    .limit(page.limit);
}

/** Returns the keys that a key created for agents, newest first, beginning after the key `after`. Uses the index api_keys_maker. */
export function listMadeKeys(
  db: Executor,
  makerKeyId: KeyId,
  page: { after: KeyId | undefined; limit: number },
): Promise<ApiKey[]> {
  return db.orm
    .select()
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.makerKeyId, makerKeyId),
        eq(apiKeys.purpose, ""),
        page.after === undefined ? undefined : lt(apiKeys.id, page.after),
      ),
    )
    .orderBy(desc(apiKeys.id))
    .limit(page.limit);
}

/** Returns the number of usable keys that a key created: those that are neither revoked nor expired. */
export function countMadeKeys(db: Executor, makerKeyId: KeyId, nowMs: number): Promise<number> {
  const isLive = and(isNull(apiKeys.revokedAt), gt(apiKeys.expiresAt, nowMs));
  return db.orm.$count(apiKeys, and(eq(apiKeys.makerKeyId, makerKeyId), eq(apiKeys.purpose, ""), isLive));
}

/**
 * Returns the number of usable keys of a project that may call the tools of every toolkit. Keys of grants (permissions for agents) count;
 * keys of portal links do not.
 */
export function countOpenKeys(db: Executor, projectId: ProjectId, nowMs: number): Promise<number> {
  const isUsable = and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, nowMs)));
  const isOpen = and(eq(apiKeys.purpose, ""), sql`${apiKeys.toolkitSlugs} = '{}'`);
  return db.orm.$count(apiKeys, and(eq(apiKeys.projectId, projectId), isUsable, isOpen));
}

/**
 * A revoked key. `endedIds`: all keys that ended with it: the key itself, the keys that it created, the keys that those created, and so on.
 */
export type RevokedKey = { readonly key: ApiKey; readonly endedIds: readonly KeyId[] };

/**
 * Revokes a key, the keys that it created, the keys that these created and so on, and ends the subscriptions of their agents. A key that was
 * already revoked keeps the time of its revocation. Returns the ended keys. Undefined if the key does not exist.
 */
export async function revokeApiKey(db: Executor, id: KeyId, nowMs: number): Promise<RevokedKey | undefined> {
  return withTransaction(db, async (tx) => {
    // A copy of the project in another cell would keep the key.
    const given = await findKeyById(tx, id);
    if (given !== undefined) await lockUnheld(tx, [given.projectId]);
    // Revokes the given key first, and then the keys that it created. Creating a key locks the row of its creator key. So after its
    // revocation, a key cannot create further keys. Keys that were already revoked are followed too: their keys may be valid.
    const ended = await endKeys(tx, eq(apiKeys.id, id), nowMs);
    for (let makers: KeyId[] = [id]; makers.length > 0; ) {
      const isMade = sql`${apiKeys.makerKeyId} = any(${arrayLiteral(makers.map(uuidOfId))}::uuid[])`;
      ended.push(...(await endKeys(tx, isMade, nowMs)));
      makers = (await tx.orm.select({ id: apiKeys.id }).from(apiKeys).where(isMade)).map((made) => made.id);
    }
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

/** Stores that keys were used at `nowMs`. If a later time of use is already stored, it stays. */
export async function touchApiKeys(db: Executor, ids: readonly KeyId[], nowMs: number): Promise<void> {
  const uuids = arrayLiteral(ids.map(uuidOfId));
  await db.orm
    .update(apiKeys)
    .set({ lastUsedAt: nowMs })
    .where(
      sql`${apiKeys.id} = any(${uuids}::uuid[]) and (${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < ${isoTime(nowMs)}::timestamptz)`,
    );
}
