import type { TimeRange } from "@svc/core";
import { toolCalls } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { selectList } from "../sql/select-list.ts";

/**
 * The columns that a list of calls reads, as SQL. `c` is the name of the call's row in the query. The sealed arguments and results are not
 * among the columns.
 */
export const callColumns = selectList(toolCalls, namesBut(toolCalls, "arguments", "result", "replay", "failure"), "c");

/** A tool call as lists of calls return it: without its arguments, its result and internal columns. */
export type ToolCallSummary = Omit<Row<typeof toolCalls>, "arguments" | "result" | "replay" | "failure">;

/** Filter of a list of calls. A field that is not set does not filter. */
export type ToolCallFilter = TimeRange & {
  toolSlug: string | undefined;
  entityId: string | undefined;
  outcome: ToolCallSummary["outcome"] | undefined;
};
