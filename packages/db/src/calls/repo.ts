import type { Id, ProjectId, TimeRange } from "@svc/core";
import { firstUuidAt, uuidOfId } from "@svc/core";
import { and, desc, eq, getTableColumns, gte, lt, type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/index.ts";
import { newestOfProject } from "../sql/newest-first.ts";

/** A call of the ledger without its sealed parts but the message. */
export type ToolCallSummary = Omit<typeof toolCalls.$inferSelect, "arguments" | "result" | "replay" | "failure">;

/** A call of the ledger with what was sealed. */
export type ToolCallRow = ToolCallSummary & Pick<typeof toolCalls.$inferSelect, "arguments" | "result">;

/** What a list of calls is narrowed to; an absent part does not narrow. */
export type ToolCallFilter = TimeRange & {
  toolSlug: string | undefined;
  entityId: string | undefined;
  outcome: ToolCallSummary["outcome"] | undefined;
};

/** The ledger of one project. */
export type ToolCallRepository = {
  find(id: Id<"call">): Promise<ToolCallRow | undefined>;
  /** Newest first, from after `after`. */
  list(filter: ToolCallFilter, page: { after: Id<"call"> | undefined; limit: number }): Promise<ToolCallSummary[]>;
};

const { arguments: args, result, replay: _replay, failure: _failure, ...summary } = getTableColumns(toolCalls);

/** The ledger of one project. Ids are in the order of time, so a time range is a range of ids. */
export function toolCallsForProject(db: Executor, projectId: ProjectId): ToolCallRepository {
  const own = eq(toolCalls.projectId, projectId);
  const idAt = (ms: number) => sql`${firstUuidAt(ms)}::uuid`;
  return {
    async find(id) {
      const [row] = await db.orm
        .select({ ...summary, arguments: args, result })
        .from(toolCalls)
        .where(and(own, eq(toolCalls.id, id)));
      return row;
    },
    list({ toolSlug, entityId, outcome, sinceMs, untilMs }, { after, limit }) {
      const isNarrow = [toolSlug, entityId, outcome, sinceMs, untilMs].some((one) => one !== undefined);
      const newest = isNarrow
        ? { where: own, orderBy: [desc(toolCalls.id)] }
        : newestOfProject(toolCalls, projectId, after && uuidOfId(after));
      return db.orm
        .select(summary)
        .from(toolCalls)
        .where(
          and(
            newest.where,
            toolSlug === undefined ? undefined : eq(toolCalls.toolSlug, toolSlug),
            entityId === undefined ? undefined : eq(toolCalls.entityId, entityId),
            outcome === undefined ? undefined : and(eq(toolCalls.outcome, outcome), partOf(outcome)),
            sinceMs === undefined ? undefined : gte(toolCalls.id, idAt(sinceMs)),
            untilMs === undefined ? undefined : lt(toolCalls.id, idAt(untilMs)),
            after === undefined ? undefined : lt(toolCalls.id, after),
          ),
        )
        .orderBy(...newest.orderBy)
        .limit(limit);
    },
  };
}

/**
 * Where calls of an outcome are: the condition of the index of those that went wrong, in its words, since a plan for any value knows no
 * other; and what runs is among the newest.
 */
function partOf(outcome: ToolCallSummary["outcome"]): SQL | undefined {
  if (outcome === "ok") return undefined;
  if (outcome === "running") return sql`id >= (select settled_before from ledger_state where id = 1)`;
  return sql`${eq(toolCalls.failure, outcome)} and failure is not null`;
}
