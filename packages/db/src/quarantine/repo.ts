import { firstUuidAt, type ProjectId, type QuarantineId } from "@svc/core";
import { and, asc, eq, gt, isNull, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { quarantinedPosts } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A verified webhook post from which svc could make no event. It is kept in quarantine for inspection and release. */
export type QuarantinedPost = typeof quarantinedPosts.$inferSelect;

/**
 * Owner of quarantined webhook posts (which svc could not turn into events): a project, for posts to its private toolkits (apps that it
 * defined itself). Undefined: the deployment, for posts to shared toolkits.
 */
export type PostOwner = ProjectId | undefined;

/** Filter of a list of quarantined webhook posts (which svc could not turn into events). A field with an empty string does not filter. */
export type QuarantineFilter = {
  owner?: PostOwner;
  toolkitSlug: string;
  reason: string;
  /** True to list webhook posts that were released (processed again) too; false to list only posts that are still in quarantine. */
  includeReleased: boolean;
  sinceMs: number | undefined;
  untilMs: number | undefined;
};

/** Stores quarantined webhook posts (which svc could not turn into events). */
export async function putQuarantinedPosts(db: Executor, posts: readonly QuarantinedPost[]): Promise<void> {
  if (posts.length > 0) await db.orm.insert(quarantinedPosts).values([...posts]);
}

/** Returns the quarantined webhook post with this id; undefined if it does not exist or has another owner. */
export async function findQuarantinedPost(
  db: Executor,
  id: QuarantineId,
  owner: PostOwner,
): Promise<QuarantinedPost | undefined> {
  const [post] = await db.orm.select().from(quarantinedPosts).where(eq(quarantinedPosts.id, id));
  return post?.projectId === (owner ?? null) ? post : undefined;
}

/** A quarantined webhook post whose headers and query may be unencrypted. `isSealed`: true if they are encrypted. */
export type UnsealedPost = Pick<QuarantinedPost, "id" | "reason" | "headers" | "query"> & {
  readonly isSealed: boolean;
};

/**
 * Returns quarantined webhook posts (which svc could not turn into events) with their stored headers and query, which are encrypted or
 * still unencrypted. Oldest first, beginning after the id `after`. Uses the primary key.
 */
export function listQuarantineSeals(
  db: Executor,
  page: { after: QuarantineId | undefined; limit: number },
): Promise<UnsealedPost[]> {
  const { id, reason, headers, query, envelope } = quarantinedPosts;
  return db.orm
    .select({ id, reason, headers, query, isSealed: sql<boolean>`${envelope} is not null` })
    .from(quarantinedPosts)
    .where(page.after === undefined ? undefined : gt(id, page.after))
    .orderBy(asc(id))
    .limit(page.limit);
}

/**
 * Stores the headers and query of a quarantined webhook post as `envelope`, encrypted, and removes the unencrypted ones. `detail`: if
 * given, the new reason for the quarantine. Does nothing if the post already has an envelope.
 */
export async function sealQuarantinedPost(
  db: Executor,
  id: QuarantineId,
  { envelope, detail }: { envelope: Buffer; detail: string | undefined },
): Promise<void> {
  await db.orm
    .update(quarantinedPosts)
    .set({ envelope, headers: {}, query: {}, ...(detail !== undefined && { detail }) })
    .where(and(eq(quarantinedPosts.id, id), isNull(quarantinedPosts.envelope)));
}

/** Marks a quarantined webhook post as released (processed again). Returns false if it was already released. */
export async function markQuarantinedPostReleased(db: Executor, id: QuarantineId, nowMs: number): Promise<boolean> {
  const rows = await db.orm
    .update(quarantinedPosts)
    .set({ releasedAt: nowMs })
    .where(and(eq(quarantinedPosts.id, id), isNull(quarantinedPosts.releasedAt)))
    .returning({ id: quarantinedPosts.id });
  return rows.length > 0;
}

/**
 * Marks a quarantined webhook post (one that svc could not turn into events) as not released, whether it was released before or not.
 * Stores why svc cannot turn the post into events. If `envelope` (encrypted headers and query of the post) is given, it replaces the
 * stored one.
 */
export async function noteQuarantinedPost(
  db: Executor,
  id: QuarantineId,
  { reason, detail, envelope }: Pick<QuarantinedPost, "reason" | "detail"> & { readonly envelope?: Buffer },
): Promise<void> {
  await db.orm
    .update(quarantinedPosts)
    .set({ reason, detail, releasedAt: null, ...(envelope && { envelope }) })
    .where(eq(quarantinedPosts.id, id));
}

/** Deletes the oldest quarantined webhook posts. Finds them by the primary key, because an id begins with the time of receipt. */
const sweepQuarantine = statement<{ id: string }>(
  "sweep_quarantined_posts",
  `delete from quarantined_posts where id in (select id from quarantined_posts where id < $1::uuid order by id limit $2::int4 for update skip locked)
   returning id`,
);

/**
 * Deletes up to `limit` quarantined webhook posts (which svc could not turn into events) received before `beforeMs`, released or not;
 * returns how many.
 */
export async function sweepQuarantinedPosts(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepQuarantine(db, [firstUuidAt(beforeMs), limit])).length;
}
