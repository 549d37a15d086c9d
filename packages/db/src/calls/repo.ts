import type { Id, ProjectId } from "@svc/core";
import { and, eq, getTableColumns } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/index.ts";
import type { Walked } from "../sql/filter.ts";
import { listCallPage, type ToolCallFilter, type ToolCallSummary } from "./list-page.ts";
import { type WalkedCallFilter, walkCalls } from "./list-walked.ts";

/** A call of the ledger with what was sealed. */
export type ToolCallRow = ToolCallSummary & Pick<typeof toolCalls.$inferSelect, "arguments" | "result">;

/** The ledger of one project. */
export type ToolCallRepository = {
  find(id: Id<"call">): Promise<ToolCallRow | undefined>;
  /** Newest first, from after `after`. */
  list(filter: ToolCallFilter, page: CallPlace): Promise<ToolCallSummary[]>;
  /** The same by what no index has: it looks at 20,000 calls at most. */
  walk(filter: ToolCallFilter & WalkedCallFilter, page: CallPlace): Promise<Walked<ToolCallSummary>>;
};

type CallPlace = { after: Id<"call"> | undefined; limit: number };

const { replay: _replay, failure: _failure, ...columns } = getTableColumns(toolCalls);

/** The ledger of one project. Ids are in the order of time, so a time range is a range of ids. */
export function toolCallsForProject(db: Executor, projectId: ProjectId): ToolCallRepository {
  return {
    async find(id) {
      const [row] = await db.orm
        .select(columns)
        .from(toolCalls)
        .where(and(eq(toolCalls.projectId, projectId), eq(toolCalls.id, id)));
      return row;
    },
    list: (filter, page) => listCallPage(db, projectId, filter, page),
    walk: (filter, page) => walkCalls(db, projectId, filter, page),
  };
}
