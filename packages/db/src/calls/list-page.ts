import { type Id, type ProjectId, type TimeRange, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/index.ts";
import { callFailures } from "../schema/words.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { idBounds, newestIn, pageOfFound, valuesIn } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** The columns of a call `c` in a list. */
export const callColumns = selectList(toolCalls, namesBut(toolCalls, "arguments", "result", "replay", "failure"), "c");

/** A call of the ledger without its sealed parts but the message. */
export type ToolCallSummary = Omit<Row<typeof toolCalls>, "arguments" | "result" | "replay" | "failure">;

/** What a list of calls is narrowed to; an absent part does not narrow. */
export type ToolCallFilter = TimeRange & {
  toolSlug: string | undefined;
  entityId: string | undefined;
  outcome: ToolCallSummary["outcome"] | undefined;
};

/** Nothing that began before it runs any more. */
const settledBefore = "(select settled_before from ledger_state where id = 1)";

/**
 * The newest of those that run or ended well, where they are asked for (`$6`: how many at most), and of each way to go wrong that is
 * (`$7`). They stand in indexes apart: in one index of both, either could stand before all of the others; in two of all, each call would
 * cost entries in both. What runs is among the newest.
 */
function newestCalls(key: Readonly<Record<string, string>>, ofFailure = { ...key, failure: "f.failure" }): string {
  const well = newestIn("tool_calls", {
    key,
    condition: "failure is null",
    from: `case when $5::text = 'running' then greatest($4::uuid, ${settledBefore}) else $4::uuid end`,
    filter: "($5::text = '' or outcome = $5::text)",
    limit: "$6::int4",
  });
  const failed = newestIn("tool_calls", { key: ofFailure, condition: "failure is not null", from: "$4::uuid" });
  return `select w.id from (${well}) w union all
    select c.id from unnest($7::text[]) as f(failure) cross join lateral (${failed}) c`;
}

const ofProject = { project_id: "$1::uuid" };
const page = { columns: callColumns.text, table: "tool_calls", as: "c" };

/** By tool_calls_project and tool_calls_failure; the page itself by primary keys. */
const selectCalls = statement<RawRow<ToolCallSummary>>(
  "list_calls",
  pageOfFound({ ...page, found: newestCalls(ofProject, { failure: "f.failure", ...ofProject }) }),
);

/** By tool_calls_tool and tool_calls_tool_failure. */
const selectOfTool = statement<RawRow<ToolCallSummary>>(
  "list_calls_of_tool",
  pageOfFound({ ...page, found: newestCalls({ tool_slug: "$8::text", ...ofProject }) }),
);

const ofEntity = { entity_id: "$8::text", ...ofProject };

/** What an entity used; or the one tool that is asked for. */
function toolsIn(name: string, condition: string): string {
  return valuesIn("tool_calls", name, { key: ofEntity, column: "tool_slug", condition, only: "$9::text" });
}

/**
 * By tool_calls_entity and tool_calls_entity_failure, for each tool that the entity used: so the same indexes serve its list and
 * that of one of its tools.
 */
const selectOfEntity = statement<RawRow<ToolCallSummary>>(
  "list_calls_of_entity",
  pageOfFound({
    ...page,
    given: `${toolsIn("used", "failure is null")}, ${toolsIn("missed", "failure is not null")},
      tools(slug) as (select value from used union select value from missed)`,
    found: `select e.id from tools t cross join lateral (${newestCalls({ ...ofEntity, tool_slug: "t.slug" })}) e where t.slug <> ''`,
  }),
);

/** Calls of one project, newest first. */
export async function listCallPage(
  db: Executor,
  projectId: ProjectId,
  { toolSlug, entityId, outcome, sinceMs, untilMs }: ToolCallFilter,
  { after, limit }: { after: Id<"call"> | undefined; limit: number },
): Promise<ToolCallSummary[]> {
  const isWell = outcome === "ok" || outcome === "running";
  const { fromUuid, beforeUuid } = idBounds({ sinceMs, untilMs }, after);
  const wellLimit = isWell || outcome === undefined ? limit : 0;
  const ofFailures = arrayLiteral(outcome === undefined ? callFailures : callFailures.filter((one) => one === outcome));
  const bounds = [uuidOfId(projectId), beforeUuid, limit, fromUuid];
  const given = [...bounds, isWell ? outcome : "", wellLimit, ofFailures];
  if (entityId !== undefined) return read(await selectOfEntity(db, [...given, entityId, toolSlug ?? ""]));
  if (toolSlug !== undefined) return read(await selectOfTool(db, [...given, toolSlug]));
  return read(await selectCalls(db, given));
}

function read(rows: readonly RawRow<ToolCallSummary>[]): ToolCallSummary[] {
  return rows.map((row) => callColumns.read(row));
}
