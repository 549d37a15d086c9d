import { type GrantId, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { type ApiKey, createApiKey, revokeApiKey } from "../keys/repo.ts";
import { apiKeys, grants } from "../schema/index.ts";
import { namesBut } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { endNarrowedSubscriptions } from "../subscriptions/routing.ts";
import { deleteGrantTokens, type Grant } from "./tokens.ts";

const keyNames = [
  "entityId",
  "accessClasses",
  "toolkitSlugs",
  "agentTools",
  "confirm",
  "lastUsedAt",
  "revokedAt",
] as const;

/** A grant (a person's permission for an agent) with the scope of its key. */
export type ListedGrant = Grant &
  Pick<ApiKey, (typeof keyNames)[number]> & {
    /**
     * True if the key of the person who gave the grant (permission) to the agent is still valid. False if this key is revoked or has
     * expired.
     */
    readonly isVouched: boolean;
  };

/** Stores a grant (a person's permission for an agent) and the key that belongs to it. */
export async function insertGrant(db: Executor, grant: typeof grants.$inferInsert, key: ApiKey): Promise<void> {
  await createApiKey(db, key);
  await db.orm.insert(grants).values(grant);
}

/**
 * Ends a grant (a person's permission for an agent) now: revokes its key and deletes its tokens. If the grant has already ended, the stored
 * time of its end stays.
 */
export async function endGrant(db: Executor, { id, keyId }: Pick<Grant, "id" | "keyId">, nowMs: number): Promise<void> {
  await revokeApiKey(db, keyId, nowMs);
  await deleteGrantTokens(db, id);
}

/**
 * Sets the access classes, toolkits (apps), agent tools and confirmation rule of the key that belongs to a grant (a person's permission for
 * an agent). Also ends those subscriptions of the agent that the new limits no longer allow. Call it in a transaction.
 */
export async function narrowGrant(
  tx: Executor,
  { keyId, projectId }: Pick<Grant, "keyId" | "projectId">,
  bounds: Pick<ApiKey, "accessClasses" | "toolkitSlugs" | "agentTools" | "confirm">,
  nowMs: number,
): Promise<void> {
  await tx.orm.update(apiKeys).set(bounds).where(eq(apiKeys.id, keyId));
  const { accessClasses, toolkitSlugs } = bounds;
  // Only a key with the access class `read` may have subscriptions to events.
  const isReader = accessClasses.length === 0 || accessClasses.includes("read");
  if (isReader && toolkitSlugs.length === 0) return;
  await endNarrowedSubscriptions(tx, { projectId, keyId, nowMs }, isReader ? toolkitSlugs : []);
}

/** Returns the grant (a person's permission for an agent) with this id, of any project; undefined if there is none. */
export async function findGrant(db: Executor, id: GrantId): Promise<Grant | undefined> {
  const [grant] = await db.orm.select().from(grants).where(eq(grants.id, id));
  return grant;
}

/**
 * A grant (a person's permission for an agent) that was made from an identity assertion (a token of the company's identity provider), with
 * the limits of its key.
 */
export type AssertedGrant = Grant & Pick<ApiKey, "accessClasses" | "toolkitSlugs" | "confirm">;

/**
 * Returns the active grants (permissions for agents) that identity assertions opened for a client, a resource and a person's key, newest
 * first. There is at most one for each set of access classes; an old grant without a set has the classes of its key. Uses the index
 * grants_project.
 */
export async function listAssertedGrants(
  db: Executor,
  known: Pick<Grant, "projectId" | "voucherKeyId" | "clientId" | "clientOrigin" | "resource">,
): Promise<AssertedGrant[]> {
  const isKnown = Object.entries(known).map(([name, value]) => eq(grants[name as keyof typeof known], value));
  const { accessClasses, toolkitSlugs, confirm } = apiKeys;
  const found = await db.orm
    .select({ grant: grants, limits: { accessClasses, toolkitSlugs, confirm } })
    .from(grants)
    .innerJoin(apiKeys, eq(apiKeys.id, grants.keyId))
    .where(and(...isKnown, isNull(apiKeys.revokedAt)))
    .orderBy(desc(grants.id));
  return found.map(({ grant, limits }) => {
    return { ...grant, assertedClasses: grant.assertedClasses ?? limits.accessClasses, ...limits };
  });
}

const grantColumns = selectList(grants, namesBut(grants), "g");
const keyColumns = selectList(apiKeys, keyNames, "k");
const columns = `${grantColumns.text}, ${keyColumns.text},
  v.revoked_at is null and (v.expires_at is null or v.expires_at > $2::timestamptz) as "isVouched"`;
/**
 * SQL that adds two API keys to each grant. `k`: the key that was created for the agent. `v`: the key with which a person approved the
 * grant. Uses the primary keys.
 */
const keys = `cross join lateral (select * from api_keys one where one.id = g.key_id offset 0) k
  cross join lateral (select * from api_keys one where one.id = g.voucher_key_id offset 0) v`;

/** Reads a project's grants (people's permissions for agents) by the index grants_project. */
const listPage = statement<RawRow<ListedGrant> & { isVouched: boolean }>(
  "list_grants",
  `select ${columns} from (
     select * from grants where project_id = $1::uuid and id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
     order by id desc limit $4::int4) g ${keys} order by g.id desc`,
);

/** Returns a project's grants (people's permissions for agents), including ended ones, newest first, beginning after the id `after`. */
export async function listGrants(
  db: Executor,
  projectId: ProjectId,
  { after, limit, nowMs }: { after: GrantId | undefined; limit: number; nowMs: number },
): Promise<ListedGrant[]> {
  const bound = after === undefined ? null : uuidOfId(after);
  const rows = await listPage(db, [uuidOfId(projectId), isoTime(nowMs), bound, limit]);
  return rows.map((row) => keyColumns.read(grantColumns.read(row)));
}

/** Finds a grant (a person's permission for an agent) of a project by the index grants_project. */
const readOne = statement<RawRow<ListedGrant> & { isVouched: boolean }>(
  "read_grant",
  `select ${columns} from (select * from grants where project_id = $1::uuid and id = $3::uuid offset 0) g ${keys}`,
);

/** Returns a grant (a person's permission for an agent) of a project, even if it has ended; undefined if the project has no such grant. */
export async function findListedGrant(
  db: Executor,
  projectId: ProjectId,
  { id, nowMs }: { id: GrantId; nowMs: number },
): Promise<ListedGrant | undefined> {
  const [row] = await readOne(db, [uuidOfId(projectId), isoTime(nowMs), uuidOfId(id)]);
  return row && keyColumns.read(grantColumns.read(row));
}
