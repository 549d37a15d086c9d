import { idOfUuid, isoTime, type ProjectId } from "@svc/core";
import { and, eq, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { toolkitSources } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** Identifies the source of a private toolkit (the place from which a project imported an app). */
export type SourceKey = { readonly projectId: ProjectId; readonly slug: string };

/**
 * The lease (time-limited right) under which only one node reads a source again. `leaseUntilMs`: end of the lease, epoch milliseconds. It
 * also identifies the lease, because a later lease of the source has a later end.
 */
export type SourceLease = SourceKey & { readonly leaseUntilMs: number };

const selectDue = statement<{ project_id: string; slug: string }>(
  "list_due_sources",
  `select project_id, slug from toolkit_sources
   where next_at is not null and next_at <= $1::timestamptz and (lease_until is null or lease_until <= $1::timestamptz)
   order by next_at limit $2::int`,
);

/** Returns sources that are due to be read and that no node is reading, the oldest first. Uses the index toolkit_sources_next. */
export async function listDueSources(db: Executor, nowMs: number, limit: number): Promise<SourceKey[]> {
  const rows = await selectDue(db, [isoTime(nowMs), limit]);
  return rows.map((row) => ({ projectId: idOfUuid("prj", row.project_id), slug: row.slug }));
}

/**
 * Takes the lease (time-limited right) to read a source again when it is due. Returns false if another node has the lease, or has read the
 * source in the meantime.
 */
export async function claimSource(
  db: Executor,
  { projectId, slug, leaseUntilMs }: SourceLease,
  nowMs: number,
): Promise<boolean> {
  const isFree = or(isNull(toolkitSources.leaseUntil), lte(toolkitSources.leaseUntil, nowMs));
  const isDue = and(isNotNull(toolkitSources.nextAt), lte(toolkitSources.nextAt, nowMs));
  const rows = await db.orm
    .update(toolkitSources)
    .set({ leaseUntil: leaseUntilMs })
    .where(and(isSource({ projectId, slug }), isDue, isFree))
    .returning({ slug: toolkitSources.slug });
  return rows.length > 0;
}

/**
 * Ends a node's lease of a source. `nextAt`: time of the next read. `pauseUntil`: time before which no node reads it, even if it is due
 * earlier. Does nothing if the node has lost the lease.
 */
export async function settleSource(
  db: Executor,
  { leaseUntilMs, ...key }: SourceLease,
  { nextAt, pauseUntil }: { readonly nextAt: number; readonly pauseUntil: number },
): Promise<void> {
  await db.orm
    .update(toolkitSources)
    .set({ nextAt, leaseUntil: pauseUntil })
    .where(and(isSource(key), eq(toolkitSources.leaseUntil, leaseUntilMs)));
}

/**
 * Makes svc read a source again at `dueMs`, if svc reads it regularly and the next read is later. A pause that follows the last read still
 * applies.
 */
export async function hastenSource(db: Executor, key: SourceKey, dueMs: number): Promise<void> {
  const due = sql`${isoTime(dueMs)}::timestamptz`;
  const { nextAt } = toolkitSources;
  // The time is not a condition, so that the statement finds the row by its key and not among all rows with a later time.
  await db.orm
    .update(toolkitSources)
    .set({ nextAt: sql`case when ${nextAt} > ${due} then ${due} else ${nextAt} end` })
    .where(isSource(key));
}

function isSource({ projectId, slug }: SourceKey) {
  return and(eq(toolkitSources.projectId, projectId), eq(toolkitSources.slug, slug));
}

const countWaiting = statement<{ count: string }>(
  "count_waiting_sources",
  "select count(*) as count from (select from toolkit_sources where changes_count > 0 limit $1::int) s",
);

/** Returns the number of toolkits in all projects that have changes for an approver to accept. Counts at most `most`. */
export async function countSourcesWithChanges(db: Executor, most: number): Promise<number> {
  return Number((await countWaiting(db, [most]))[0]?.count ?? 0);
}
