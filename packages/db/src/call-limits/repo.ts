import { isoTime, type ProjectId } from "@svc/core";
import { and, asc, count, eq, ne } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { callLimits, projects } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A limit that a project sets for its own tool calls, such as the number of calls per minute, as stored. */
export type CallLimitRow = Omit<typeof callLimits.$inferSelect, "projectId">;

/** The call limits of one project. */
type CallLimitRepository = {
  /** Returns the limits, sorted by name. */
  list(): Promise<CallLimitRow[]>;
  /**
   * Creates a limit, or replaces the project's limit with the same name. A replaced limit keeps its createdAt. Returns the stored limit.
   * Undefined, with nothing stored, if the project would have more than `most` limits.
   */
  put(limit: CallLimitRow, most: number): Promise<CallLimitRow | undefined>;
  /** Deletes a limit. Returns false if the project has no limit with this name. */
  delete(name: string): Promise<boolean>;
};

const columns = {
  name: callLimits.name,
  toolkitSlug: callLimits.toolkitSlug,
  keyExpression: callLimits.keyExpression,
  concurrency: callLimits.concurrency,
  rateMax: callLimits.rateMax,
  ratePerMs: callLimits.ratePerMs,
  isPaused: callLimits.isPaused,
  createdAt: callLimits.createdAt,
  updatedAt: callLimits.updatedAt,
};

/** Returns the repository of one project's call limits. */
export function callLimitsForProject(db: Executor, projectId: ProjectId): CallLimitRepository {
  const ofProject = eq(callLimits.projectId, projectId);
  return {
    list: () => db.orm.select(columns).from(callLimits).where(ofProject).orderBy(asc(callLimits.name)),
    put: (limit, most) =>
      withTransaction(db, async (tx) => {
        // Locks the project's row. So if two calls of `put` run at the same time, only one of them can create the last allowed limit.
        await tx.orm.select({ id: projects.id }).from(projects).where(eq(projects.id, projectId)).for("no key update");
        const [others] = await tx.orm
          .select({ count: count() })
          .from(callLimits)
          .where(and(ofProject, ne(callLimits.name, limit.name)));
        if ((others?.count ?? 0) >= most) return undefined;
        const { name: _, createdAt: _created, ...change } = limit;
        const [row] = await tx.orm
          .insert(callLimits)
          .values({ ...limit, projectId })
          .onConflictDoUpdate({ target: [callLimits.projectId, callLimits.name], set: change })
          .returning(columns);
        return row;
      }),
    async delete(name) {
      const rows = await db.orm
        .delete(callLimits)
        .where(and(ofProject, eq(callLimits.name, name)))
        .returning({ name: callLimits.name });
      return rows.length > 0;
    },
  };
}

/**
 * Deletes counters of call limits whose `expires_at` has passed, oldest first. Such a counter no longer limits any calls. Finds the
 * counters by the index call_paces_expires.
 */
const deleteExpired = statement<{ key: string }>(
  "sweep_call_paces",
  `delete from call_paces p using (
     select project_id, limit_name, key from call_paces where expires_at < $1::timestamptz
     order by expires_at limit $2::int4 for update skip locked) old
   where p.project_id = old.project_id and p.limit_name = old.limit_name and p.key = old.key returning p.key`,
);

/** Deletes up to `limit` counters of call limits that expired before `nowMs`. Returns the number of deleted counters. */
export async function sweepCallPaces(db: Executor, nowMs: number, limit: number): Promise<number> {
  return (await deleteExpired(db, [isoTime(nowMs), limit])).length;
}
