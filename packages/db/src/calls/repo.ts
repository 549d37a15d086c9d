import type { Id, ProjectId, TimeRange } from "@svc/core";
import { firstUuidAt } from "@svc/core";
import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/index.ts";
import { statement } from "../statement.ts";
import { doubted, findKeyHolder, type KeyHolder } from "./keyed.ts";

/** A call of the ledger without its sealed parts. */
export type ToolCallSummary = Omit<typeof toolCalls.$inferSelect, "arguments" | "result" | "replay">;

/** A call of the ledger with what was sealed. */
export type ToolCallRow = ToolCallSummary & Pick<typeof toolCalls.$inferSelect, "arguments" | "result">;

/** What a list of calls is narrowed to; an absent part does not narrow. */
export type ToolCallFilter = TimeRange & {
  toolSlug: string | undefined;
  entityId: string | undefined;
  outcome: string | undefined;
};

/** The ledger of one project. */
export type ToolCallRepository = {
  find(id: Id<"call">): Promise<ToolCallRow | undefined>;
  /** The call that holds an idempotency key. */
  findKeyHolder(idempotencyKey: string): Promise<KeyHolder | undefined>;
  /** Newest first, from after `after`. */
  list(filter: ToolCallFilter, page: { after: Id<"call"> | undefined; limit: number }): Promise<ToolCallSummary[]>;
};

const summary = {
  id: toolCalls.id,
  projectId: toolCalls.projectId,
  toolSlug: toolCalls.toolSlug,
  accessClass: toolCalls.accessClass,
  entityId: toolCalls.entityId,
  accountId: toolCalls.accountId,
  keyId: toolCalls.keyId,
  jobId: toolCalls.jobId,
  stepId: toolCalls.stepId,
  outcome: toolCalls.outcome,
  message: toolCalls.message,
  providerStatus: toolCalls.providerStatus,
  argumentsDigest: toolCalls.argumentsDigest,
  isTruncated: toolCalls.isTruncated,
  isSandbox: toolCalls.isSandbox,
  idempotencyKey: toolCalls.idempotencyKey,
  createdAt: toolCalls.createdAt,
  durationMs: toolCalls.durationMs,
  providerMs: toolCalls.providerMs,
};

/** The ledger of one project. Ids are in the order of time, so a time range is a range of ids. */
export function toolCallsForProject(db: Executor, projectId: ProjectId): ToolCallRepository {
  const own = eq(toolCalls.projectId, projectId);
  const idAt = (ms: number) => sql`${firstUuidAt(ms)}::uuid`;
  return {
    async find(id) {
      const [row] = await db.orm
        .select({ ...summary, arguments: toolCalls.arguments, result: toolCalls.result })
        .from(toolCalls)
        .where(and(own, eq(toolCalls.id, id)));
      return row;
    },
    findKeyHolder: (idempotencyKey) => findKeyHolder(db, projectId, idempotencyKey),
    list: ({ toolSlug, entityId, outcome, sinceMs, untilMs }, { after, limit }) =>
      db.orm
        .select(summary)
        .from(toolCalls)
        .where(
          and(
            own,
            toolSlug === undefined ? undefined : eq(toolCalls.toolSlug, toolSlug),
            entityId === undefined ? undefined : eq(toolCalls.entityId, entityId),
            outcome === undefined ? undefined : eq(toolCalls.outcome, outcome),
            sinceMs === undefined ? undefined : gte(toolCalls.id, idAt(sinceMs)),
            untilMs === undefined ? undefined : lt(toolCalls.id, idAt(untilMs)),
            after === undefined ? undefined : lt(toolCalls.id, after),
          ),
        )
        .orderBy(desc(toolCalls.id))
        .limit(limit),
  };
}

const sweepCalls = statement<{ id: string }>(
  "sweep_tool_calls",
  `delete from tool_calls where id in (
     select id from tool_calls where id < $1::uuid order by id limit $2::int4 for update skip locked) returning id`,
);

const doubtCalls = statement<{ id: string }>(
  "doubt_running_calls",
  `update tool_calls set ${doubted}, message = $2::text
   where id in (select id from tool_calls where outcome = 'running' and created_at < $1::timestamptz
                order by created_at limit 1000 for update skip locked) returning id`,
);

/** Removes up to `limit` calls made before `beforeMs`, from the old end of the primary key; returns how many. */
export async function sweepToolCalls(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepCalls(db, [firstUuidAt(beforeMs), limit])).length;
}

/** Ends up to 1,000 calls that began before `beforeMs` and whose node is gone; returns how many. Served by `tool_calls_running`. */
export async function doubtRunningCalls(db: Executor, beforeMs: number, message: string): Promise<number> {
  return (await doubtCalls(db, [new Date(beforeMs).toISOString(), message])).length;
}
