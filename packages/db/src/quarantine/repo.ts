import type { QuarantineId } from "@svc/core";
import { firstUuidAt } from "@svc/core";
import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { quarantinedPosts } from "../schema/index.ts";

/** A verified post that became no event. */
export type QuarantinedPost = typeof quarantinedPosts.$inferSelect;

/** Which posts to list; empty strings match all. */
export type QuarantineFilter = {
  toolkitSlug: string;
  reason: string;
  /** Released posts stand in the list too. */
  includeReleased: boolean;
  sinceMs: number | undefined;
  untilMs: number | undefined;
};

/** Keeps posts. */
export async function putQuarantinedPosts(db: Executor, posts: readonly QuarantinedPost[]): Promise<void> {
  if (posts.length > 0) await db.orm.insert(quarantinedPosts).values([...posts]);
}

/** The post with this id, if there is one. */
export async function findQuarantinedPost(db: Executor, id: QuarantineId): Promise<QuarantinedPost | undefined> {
  const [post] = await db.orm.select().from(quarantinedPosts).where(eq(quarantinedPosts.id, id));
  return post;
}

/** Posts, newest first, from after `after`. */
export function listQuarantinedPosts(
  db: Executor,
  filter: QuarantineFilter,
  page: { after: QuarantineId | undefined; limit: number },
): Promise<QuarantinedPost[]> {
  return db.orm
    .select()
    .from(quarantinedPosts)
    .where(
      and(
        filter.toolkitSlug === "" ? undefined : eq(quarantinedPosts.toolkitSlug, filter.toolkitSlug),
        filter.reason === "" ? undefined : eq(quarantinedPosts.reason, filter.reason),
        filter.includeReleased ? undefined : isNull(quarantinedPosts.releasedAt),
        page.after === undefined ? undefined : lt(quarantinedPosts.id, page.after),
        filter.sinceMs === undefined ? undefined : sql`${quarantinedPosts.id} >= ${firstUuidAt(filter.sinceMs)}::uuid`,
        filter.untilMs === undefined ? undefined : sql`${quarantinedPosts.id} < ${firstUuidAt(filter.untilMs)}::uuid`,
      ),
    )
    .orderBy(desc(quarantinedPosts.id))
    .limit(page.limit);
}

/** Marks a post as released; false when it was released before. */
export async function markReleased(db: Executor, id: QuarantineId, nowMs: number): Promise<boolean> {
  const rows = await db.orm
    .update(quarantinedPosts)
    .set({ releasedAt: nowMs })
    .where(and(eq(quarantinedPosts.id, id), isNull(quarantinedPosts.releasedAt)))
    .returning({ id: quarantinedPosts.id });
  return rows.length > 0;
}

/** Puts a post back (or leaves it) in quarantine, with why. */
export async function noteQuarantine(
  db: Executor,
  id: QuarantineId,
  why: { reason: string; detail: string },
): Promise<void> {
  await db.orm
    .update(quarantinedPosts)
    .set({ reason: why.reason, detail: why.detail, releasedAt: null })
    .where(eq(quarantinedPosts.id, id));
}
