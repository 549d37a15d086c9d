import type { TimeRange } from "@svc/core";
import { toolCalls } from "../schema/index.ts";
import { callFailures } from "../schema/words.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { selectList } from "../sql/select-list.ts";

/**
 * The columns that a list of calls reads, as SQL. `c` is the name of the call's row in the query. The sealed arguments and results are not
 * among the columns.
 */
export const callColumns = selectList(toolCalls, namesBut(toolCalls, "arguments", "result", "replay", "failure"), "c");

/** A tool call as lists of calls return it: without its arguments, its result and internal columns. */
export type ToolCallSummary = Omit<Row<typeof toolCalls>, "arguments" | "result" | "replay" | "failure">;

/** Returns the outcomes of unsuccessful calls that a filter includes. The query reads one index of failed calls for them. */
export function failuresIn({ outcome, failed = false }: Pick<ToolCallFilter, "outcome" | "failed">) {
  return callFailures.filter((one) => (outcome === undefined || one === outcome) && !(failed && one === "held"));
}

/** Returns true if a filter includes running or successful calls. The query must then also read calls that have not failed. */
export function includesWell({ outcome, failed = false }: Pick<ToolCallFilter, "outcome" | "failed">): boolean {
  return !failed && (outcome === undefined || outcome === "ok" || outcome === "running");
}

/** Filter of a list of calls. A field that is not set does not filter. */
export type ToolCallFilter = TimeRange & {
  toolSlug: string | undefined;
  entityId: string | undefined;
  outcome: ToolCallSummary["outcome"] | undefined;
  /** True if the list contains only failed calls. Calls that wait for a confirmation have not failed. */
  failed?: boolean;
};
