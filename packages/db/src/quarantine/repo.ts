import { firstUuidAt, type QuarantineId } from "@svc/core";
import { and, asc, eq, gt, isNull, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { quarantinedPosts } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A verified post that became no event. */
export type QuarantinedPost = typeof quarantinedPosts.$inferSelect;

/** Filter of a list of posts; empty strings match all. */
export type QuarantineFilter = {
  toolkitSlug: string;
  reason: string;
  /** True if released posts are listed too. */
  includeReleased: boolean;
  sinceMs: number | undefined;
  untilMs: number | undefined;
};

/** Stores posts. */
export async function putQuarantinedPosts(db: Executor, posts: readonly QuarantinedPost[]): Promise<void> {
  if (posts.length > 0) await db.orm.insert(quarantinedPosts).values([...posts]);
}

/** Returns the post with this id, if it exists. */
export async function findQuarantinedPost(db: Executor, id: QuarantineId): Promise<QuarantinedPost | undefined> {
  const [post] = await db.orm.select().from(quarantinedPosts).where(eq(quarantinedPosts.id, id));
  return post;
}

/** A post from before headers and query were sealed; `isSealed` if they are sealed now. */
export type UnsealedPost = Pick<QuarantinedPost, "id" | "reason" | "headers" | "query"> & {
  readonly isSealed: boolean;
};

/** Returns posts with headers and query as stored, oldest first, after `after`. Uses the primary key. */
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

/** Replaces a post's headers and query with their sealed envelope, and its detail with `detail` if given. */
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

/** Marks a post as released; false if it was released before. */
export async function markQuarantinedPostReleased(db: Executor, id: QuarantineId, nowMs: number): Promise<boolean> {
  const rows = await db.orm
    .update(quarantinedPosts)
    .set({ releasedAt: nowMs })
    .where(and(eq(quarantinedPosts.id, id), isNull(quarantinedPosts.releasedAt)))
    .returning({ id: quarantinedPosts.id });
  return rows.length > 0;
}

/** Returns a post to quarantine, or keeps it there, with the reason. */
export async function noteQuarantinedPost(
  db: Executor,
  id: QuarantineId,
  why: Pick<QuarantinedPost, "reason" | "detail">,
): Promise<void> {
  await db.orm
    .update(quarantinedPosts)
    .set({ reason: why.reason, detail: why.detail, releasedAt: null })
    .where(eq(quarantinedPosts.id, id));
}

/** Reads the primary key from its oldest entries. */
const sweepQuarantine = statement<{ id: string }>(
  "sweep_quarantined_posts",
  `delete from quarantined_posts where id in (select id from quarantined_posts where id < $1::uuid order by id limit $2::int4 for update skip locked)
   returning id`,
);

/** Deletes up to `limit` quarantined posts received before `beforeMs`, released or not; returns how many. */
export async function sweepQuarantinedPosts(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepQuarantine(db, [firstUuidAt(beforeMs), limit])).length;
}
