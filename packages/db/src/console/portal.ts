import {
  createId,
  digestSecret,
  generateToken,
  idOfUuid,
  isoTime,
  type KeyId,
  type LinkId,
  type ProjectId,
  uuidOfId,
} from "@svc/core";
import { and, desc, eq, gt, inArray, isNull, lt, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { createApiKey, findKeyById, lockApiKey, type NewApiKey } from "../keys/repo.ts";
import { apiKeys, consoleLinks, consoleSeats, consoleSessions } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";
import { insertConsoleLink } from "./links.ts";

/** A portal link that has not ended. It opens the portal of its entity (customer or user). Times are in epoch milliseconds. */
export type PortalLink = {
  readonly id: LinkId;
  readonly entityId: string;
  readonly isReadOnly: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
};

/** The properties of a portal link to create. `toolkitSlug`: the only toolkit (svc's definition of one app) that its key reaches. */
type NewPortalLink = Pick<PortalLink, "entityId" | "isReadOnly" | "createdAt" | "expiresAt"> & {
  readonly toolkitSlug: string;
  /** The API key that creates the portal link. If this key is revoked, the link ends too. */
  readonly makerKeyId: KeyId;
};

/** Portal links of one project. A link and its key have the same UUID, and end together. */
type PortalLinkRepository = {
  /**
   * Creates a link with its key. Returns its id and its secret. Returns undefined if the entity (customer or user) already has `most`
   * links.
   */
  create(link: NewPortalLink, most: number): Promise<{ readonly id: LinkId; readonly token: string } | undefined>;
  /**
   * Returns portal links that have not ended at `nowMs`, newest first, beginning after the link `after`. If `entityId` is not empty,
   * returns only the links of this entity (customer or user).
   */
  list(page: {
    readonly nowMs: number;
    readonly after: LinkId | undefined;
    readonly limit: number;
    readonly entityId: string;
  }): Promise<PortalLink[]>;
  /**
   * Ends links with their keys and sessions, in one transaction: one link, or all of an entity (customer or user). Returns the ended keys.
   * Empty if no such link was live.
   */
  revoke(what: { readonly id: LinkId } | { readonly entityId: string }, nowMs: number): Promise<readonly KeyId[]>;
};

/**
 * Takes an advisory lock, which locks no row. Transactions that add a link to the same entity (customer or user) run one after the other,
 * so that they cannot exceed the maximum together.
 */
const lockLinks = statement<{ locked: string }>(
  "lock_portal_links",
  "select pg_advisory_xact_lock(hashtextextended('svc.portal.' || $1::uuid || $2::text, 0))::text as locked",
);

/** Returns the portal links of one project. */
export function portalLinksForProject(db: Executor, projectId: ProjectId): PortalLinkRepository {
  const live = (nowMs: number) =>
    and(
      eq(apiKeys.projectId, projectId),
      sql`${apiKeys.purpose} = 'portal'`,
      isNull(apiKeys.revokedAt),
      gt(apiKeys.expiresAt, nowMs),
    );
  const liveOf = (entityId: string, nowMs: number) => and(live(nowMs), eq(apiKeys.entityId, entityId));
  return {
    create: (link, most) =>
      withTransaction(db, async (tx) => {
        // A revocation of the creator ends the links that exist then. It waits for this lock. If it came first, the new link ends too.
        await lockApiKey(tx, link.makerKeyId);
        const maker = await findKeyById(tx, link.makerKeyId);
        await lockLinks(tx, [uuidOfId(projectId), link.entityId]);
        if ((await tx.orm.$count(apiKeys, liveOf(link.entityId, link.createdAt))) >= most) return undefined;
        const keyId = createId("key", link.createdAt);
        const [id, token] = [linkOfKey(keyId), generateToken()];
        await createApiKey(tx, { ...keyOf(keyId, projectId, link), revokedAt: maker?.revokedAt ?? null });
        await insertConsoleLink(tx, {
          ...{ id, projectId, keyId, digest: digestSecret(token), purpose: "portal", target: {}, spentAt: null },
          ...{ createdAt: link.createdAt, expiresAt: link.expiresAt },
        });
        return { id, token };
      }),
    async list({ nowMs, after, limit, entityId }) {
      const before = after && lt(apiKeys.id, idOfUuid("key", uuidOfId(after)));
      const keys = await db.orm
        .select()
        .from(apiKeys)
        .where(and(entityId === "" ? live(nowMs) : liveOf(entityId, nowMs), before))
        .orderBy(desc(apiKeys.id))
        .limit(limit);
      return keys.map((key) => ({
        id: linkOfKey(key.id),
        isReadOnly: key.accessClasses.length > 0,
        ...{ entityId: key.entityId, createdAt: key.createdAt, lastUsedAt: key.lastUsedAt },
        expiresAt: key.expiresAt ?? nowMs,
      }));
    },
    revoke: (what, nowMs) =>
      withTransaction(db, async (tx) => {
        const isMeant =
          "entityId" in what
            ? liveOf(what.entityId, nowMs)
            : and(live(nowMs), eq(apiKeys.id, idOfUuid("key", uuidOfId(what.id))));
        const ended = await tx.orm
          .update(apiKeys)
          .set({ revokedAt: nowMs })
          .where(isMeant)
          .returning({ keyId: apiKeys.id });
        const keyIds = ended.map(({ keyId }) => keyId);
        if (keyIds.length === 0) return [];
        await tx.orm.delete(consoleLinks).where(inArray(consoleLinks.id, keyIds.map(linkOfKey)));
        const seats = tx.orm
          .select({ id: consoleSeats.sessionId })
          .from(consoleSeats)
          .where(inArray(consoleSeats.keyId, keyIds));
        await tx.orm.delete(consoleSessions).where(inArray(consoleSessions.id, seats));
        return keyIds;
      }),
  };
}

/** Returns the key of a portal link. svc does not keep its text, so only sessions that the link opens can use it. */
function keyOf(id: KeyId, projectId: ProjectId, link: NewPortalLink): NewApiKey {
  const { entityId, isReadOnly, toolkitSlug, makerKeyId, createdAt, expiresAt } = link;
  return {
    ...{ id, projectId, entityId, createdAt, expiresAt, role: "member", purpose: "portal", hint: "" },
    ...{ name: `portal link ${linkOfKey(id)}`, makerKeyId },
    digest: digestSecret(generateToken()),
    accessClasses: isReadOnly ? ["read"] : [],
    toolkitSlugs: [toolkitSlug],
  };
}

function linkOfKey(keyId: KeyId): LinkId {
  return idOfUuid("lnk", uuidOfId(keyId));
}

/**
 * Deletes expired keys of portal links, oldest first, with their links and seats (sign-ins). Finds the keys by the index
 * api_keys_portal_expires.
 */
const sweepKeys = statement<{ id: string }>(
  "sweep_portal_keys",
  `with gone as (
     select id from api_keys where purpose = 'portal' and expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked
   ), links as (delete from console_links where id in (select id from gone)
   ), seats as (delete from console_seats where key_id in (select id from gone))
   delete from api_keys where id in (select id from gone) returning id`,
);

/** Deletes up to `limit` keys of portal links that had expired before `beforeMs`; returns how many. */
export async function sweepPortalKeys(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepKeys(db, [isoTime(beforeMs), limit])).length;
}

/** Maximum number of live keys of portal links whose sessions are counted. Most links are never opened. */
const scannedMax = 100_000;

/** Counts the sessions that portal links have opened and that have not ended at the time $1. Stops counting at $2. */
const countSessions = statement<{ count: number }>(
  "count_portal_sessions",
  `select count(*)::int4 as count from (
     select from (select id from api_keys where purpose = 'portal' and expires_at > $1::timestamptz and revoked_at is null limit ${scannedMax}) k
     cross join lateral (select from console_seats where key_id = k.id offset 0) s limit $2::int4) counted`,
);

const countedMax = 10_000;

/**
 * Returns the number of portal sessions that have not ended (opened by customers with portal links), at most 10,000. It reads at most
 * 100,000 links.
 */
export async function countPortalSessions(db: Executor, nowMs: number): Promise<number> {
  const [row] = await countSessions(db, [isoTime(nowMs), countedMax]);
  return row?.count ?? 0;
}
