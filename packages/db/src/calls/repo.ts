import { firstUuidAt, type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { and, eq, getTableColumns } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/index.ts";
import type { NewRow } from "../sql/codec.ts";
import { filterBy, type WalkedPage } from "../sql/filter.ts";
import { insertRows } from "../sql/insert-rows.ts";
import { idBounds, newestIn, pageStatement, valuesIn } from "../sql/newest-in.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { callColumns, failuresIn, includesWell, type ToolCallFilter, type ToolCallSummary } from "./list-page.ts";
import { type WalkedCallFilter, walkCalls } from "./list-walked.ts";

/** SQL for an id of a tool call, from table ledger_state. All calls with a lower id have ended. */
const settledBefore = "(select settled_before from ledger_state where id = 1)";

const ofProject = { project_id: "$1::uuid" };

const page = { table: "tool_calls", columns: callColumns, as: "c" };

/** Finds the ids of the page's calls by the indexes tool_calls_project and tool_calls_failure. Then reads the calls by primary key. */
const selectCalls = pageStatement("list_calls", {
  ...page,
  found: newestCalls(ofProject, { failure: "f.failure", ...ofProject }),
});

/** Finds the calls to one tool by the indexes tool_calls_tool and tool_calls_tool_failure. */
const selectOfTool = pageStatement("list_calls_of_tool", {
  ...page,
  found: newestCalls({ tool_slug: "$8::text", ...ofProject }),
});

const ofEntity = { entity_id: "$8::text", ...ofProject };

/**
 * Lists the tool calls of an entity (a customer or user), newest first. Uses the indexes tool_calls_entity and tool_calls_entity_failure,
 * once for each tool that the entity used. So no further index is needed for this list: the indexes by entity and tool are enough.
 */
const selectOfEntity = pageStatement("list_calls_of_entity", {
  ...page,
  given: `${toolsIn("used", "failure is null")}, ${toolsIn("missed", "failure is not null")},
      tools(slug) as (select value from used union select value from missed)`,
  found: `select e.id from tools t cross join lateral (${newestCalls({ ...ofEntity, tool_slug: "t.slug" })}) e where t.slug <> ''`,
});

/** A tool call from the ledger (the stored record of every call), with its encrypted arguments and result. */
type ToolCallRow = ToolCallSummary & Pick<typeof toolCalls.$inferSelect, "arguments" | "result">;

/** The ledger (stored record of every tool call) of one project. */
type ToolCallRepository = {
  find(id: Id<"call">): Promise<ToolCallRow | undefined>;
  /** Returns calls, newest first, beginning after the call `after`. */
  list(filter: ToolCallFilter, page: CallPosition): Promise<ToolCallSummary[]>;
  /** Returns tool calls that match conditions without an index, newest first, beginning after a position. Scans at most 20,000 calls. */
  walk(filter: ToolCallFilter & WalkedCallFilter, page: CallPosition): Promise<WalkedPage<ToolCallSummary>>;
};

type CallPosition = { after: Id<"call"> | undefined; limit: number };

const { replay: _replay, failure: _failure, ...columns } = getTableColumns(toolCalls);

/** Returns the repository of one project's tool calls. Ids sort by time, so a time range is a range of ids. */
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

/** Maximum size of the sealed arguments that a list of calls reads, in bytes. Opening many large ones would block the event loop. */
const listedArgumentsMax = 2_048;

/** Reads the arguments of calls by the primary key of tool_calls. */
const selectArguments = statement<{ id: string; arguments: Buffer }>(
  "read_call_arguments",
  `select c.id, c.arguments from unnest($1::uuid[]) as w(id) cross join lateral (
     select id, arguments from tool_calls where id = w.id and ${filterBy("project_id", "$2::uuid")}
       and octet_length(arguments) between 1 and ${listedArgumentsMax} offset 0) c`,
);

/**
 * Returns the encrypted arguments of a project's calls, by call id. Calls without arguments, and calls with too large arguments, are absent.
 */
export async function readCallArguments(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"call">[],
): Promise<Map<Id<"call">, Buffer>> {
  if (ids.length === 0) return new Map();
  const rows = await selectArguments(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  return new Map(rows.map((row) => [idOfUuid("call", row.id), row.arguments]));
}

/**
 * A new row of the call ledger (the record of all tool calls). Encrypted values are bytes. `idempotencyKey` is absent in two cases: the
 * caller gave no key, or the call has released its key for another call.
 */
export type CallRecord = Omit<StoredCall, "failure">;

type StoredCall = NewRow<typeof toolCalls>;

/** Converts a call to its row in the ledger (the stored record of tool calls), with the columns as the database stores them. */
export function storedCall(call: CallRecord): StoredCall {
  const { outcome } = call;
  return { ...call, failure: outcome === "ok" || outcome === "running" ? null : outcome };
}

/** Inserts new calls, and stores the end of running calls. Calls that have ended are not changed. */
const putCalls = insertRows("put_tool_calls", toolCalls, {
  // A running call that has given up its idempotency key does not get it back. Another call may have the key.
  after: `on conflict (id) do update set outcome = excluded.outcome, failure = excluded.failure, message = excluded.message,
     sealed_message = excluded.sealed_message, account_id = excluded.account_id,
     provider_status = excluded.provider_status, result = excluded.result, is_truncated = excluded.is_truncated,
     idempotency_key = case when tool_calls.idempotency_key is not null then excluded.idempotency_key end,
     replay = excluded.replay, duration_ms = excluded.duration_ms, provider_ms = excluded.provider_ms
   where tool_calls.outcome = 'running'`,
  isOftenLone: true,
});

/** Writes a batch of calls with different ids to the ledger. If one of them fails, none is written. */
export async function putToolCalls(db: Executor, calls: readonly CallRecord[]): Promise<void> {
  await putCalls(db, calls.map(storedCall));
}

/** Deletes the oldest calls. Reads the primary key from its start, because ids begin with the time. */
const sweepCalls = statement<{ id: string }>(
  "sweep_tool_calls",
  `delete from tool_calls where id in (
     select id from tool_calls where id < $1::uuid order by id limit $2::int4 for update skip locked) returning id`,
);

/** Deletes up to `limit` calls made before `beforeMs`; returns how many. */
export async function sweepToolCalls(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepCalls(db, [firstUuidAt(beforeMs), limit])).length;
}

/**
 * Returns the SQL query for the newest tool calls. `key`: columns that select successful and running calls. `ofFailure`: columns that
 * select failed calls.
 */
function newestCalls(key: Readonly<Record<string, string>>, ofFailure = { ...key, failure: "f.failure" }): string {
  // Successful and failed calls have separate indexes, so a search for one kind does not read the other. Running calls are in the index of
  // successful calls.
  const well = newestIn("tool_calls", {
    key,
    condition: "failure is null",
    from: `case when $5::text = 'running' then greatest($4::uuid, ${settledBefore}) else $4::uuid end`,
    filter: "($5::text = '' or outcome = $5::text)",
    limit: "$6::int4",
  });
  const failed = newestIn("tool_calls", { key: ofFailure, condition: "failure is not null", from: "$4::uuid" });
  // $6: maximum number of calls from each index scan. $7: the failures whose calls are included.
  return `select w.id from (${well}) w union all
    select c.id from unnest($7::text[]) as f(failure) cross join lateral (${failed}) c`;
}

/**
 * Returns the SQL of a query for tool slugs: the tool that the filter names, or all tools that the entity called. `name`: name of the
 * query. `condition`: which calls count.
 */
function toolsIn(name: string, condition: string): string {
  return valuesIn("tool_calls", name, { key: ofEntity, column: "tool_slug", condition, only: "$9::text" });
}

/** Returns a page of one project's calls, newest first. */
function listCallPage(
  db: Executor,
  projectId: ProjectId,
  { toolSlug, entityId, sinceMs, untilMs, ...asked }: ToolCallFilter,
  { after, limit }: { after: Id<"call"> | undefined; limit: number },
): Promise<ToolCallSummary[]> {
  const { outcome } = asked;
  const isWell = outcome === "ok" || outcome === "running";
  const { fromUuid, beforeUuid } = idBounds({ sinceMs, untilMs }, after);
  const wellLimit = includesWell(asked) ? limit : 0;
  const ofFailures = arrayLiteral(failuresIn(asked));
  const bounds = [uuidOfId(projectId), beforeUuid, limit, fromUuid];
  const given = [...bounds, isWell ? outcome : "", wellLimit, ofFailures];
  if (entityId !== undefined) return selectOfEntity(db, [...given, entityId, toolSlug ?? ""]);
  return toolSlug === undefined ? selectCalls(db, given) : selectOfTool(db, [...given, toolSlug]);
}
