import { type AccountId, type Id, idOfUuid, type KeyId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { endOf, scanOf, scanOrder, type WalkedPage, walkRowsMax } from "../sql/filter.ts";
import { idBounds } from "../sql/newest-in.ts";
import type { RawRow } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { callColumns, failuresIn, includesWell, type ToolCallFilter, type ToolCallSummary } from "./list-page.ts";

/** Filters of a list of calls that no index supports, so that the scan checks them row by row. At least one of them is set. */
export type WalkedCallFilter = {
  readonly jobId: Id<"job"> | undefined;
  readonly accountId: AccountId | undefined;
  readonly keyId: KeyId | undefined;
  /** Id of the step of a job that made the calls. */
  readonly stepId?: string | undefined;
};

/**
 * Maximum number of running and successful calls that one search reads. They get half of the limit for all calls. All kinds of failed calls
 * share the other half.
 */
const wellMax = walkRowsMax / 2;

/**
 * SQL condition that a scanned row `w` must meet: outcome, entity, job, account, key and step, each only if requested. It also mentions
 * `$9`, the requested tool. Otherwise PostgreSQL would not know the type of `$9` in a query that has no other use for it.
 */
const fits = `$9::text is not null and ($10::text = '' or w.outcome = $10::text) and ($11::text = '' or w.entity_id = $11::text)
  and ($12::uuid is null or w.job_id = $12::uuid) and ($13::uuid is null or w.account_id = $13::uuid)
  and ($14::uuid is null or w.key_id = $14::uuid) and ($15::text = '' or w.step_id = $15::text)`;

/**
 * Returns the options of two index scans: `well` for running and successful calls, `failed` for failed calls. `key`, `ofFailure`: the index
 * columns of the two scans, with their values.
 */
function scansOf(key: Readonly<Record<string, string>>, ofFailure: Readonly<Record<string, string>>) {
  const bounds = { from: "$2::uuid", before: "$3::uuid" };
  return {
    well: { key, condition: "failure is null", ...bounds, max: "$5::int4" },
    failed: { key: ofFailure, condition: "failure is not null", ...bounds, max: "$6::int4" },
  };
}

/**
 * Returns the query for a page of tool calls from the ledger (record of all tool calls). Parameter `$7`: true to include running and
 * successful calls. Parameter `$8`: the kinds of failure to include.
 */
function pageText(key: Readonly<Record<string, string>>, ofFailure: Readonly<Record<string, string>>): string {
  const { well, failed } = scansOf(key, ofFailure);
  const read = [...Object.keys(ofFailure), "id", "outcome", "entity_id", "job_id", "account_id", "key_id", "step_id"];
  const columns = [...new Set(read)].join(", ");
  return `with found as (
      (select w.id from (${scanOf("tool_calls", columns, well)}) w where $7::bool and ${fits}
        order by ${scanOrder(key)} limit $4::int4)
      union all
      select c.id from unnest($8::text[]) as f(failure) cross join lateral (
        select w.id from (${scanOf("tool_calls", columns, failed)}) w where ${fits}
        order by ${scanOrder(ofFailure)} limit $4::int4) c
    ), page as materialized (select id from found order by id desc limit $4::int4)
    select ${callColumns.text} from page cross join lateral (select * from tool_calls where id = page.id offset 0) c
    order by page.id desc`;
}

/**
 * Returns the query that finds where the search for calls stopped. The search has several scans, each from high ids to low ids. The result
 * is the highest id at which a scan stopped. Calls with lower ids may be missing.
 */
function endText(key: Readonly<Record<string, string>>, ofFailure: Readonly<Record<string, string>>): string {
  const { well, failed } = scansOf(key, ofFailure);
  return `select x.id from (
      (select e.id from (${endOf("tool_calls", well)}) e where $7::bool)
      union all
      select e.id from unnest($8::text[]) as f(failure) cross join lateral (${endOf("tool_calls", failed)}) e) x
    where $4::int4 > 0 and $9::text is not null order by x.id desc limit 1`;
}

const ofProject = { project_id: "$1::uuid" };
const ofTool = { tool_slug: "$9::text", ...ofProject };
const projectFailures = { failure: "f.failure", ...ofProject };
const toolFailures = { ...ofTool, failure: "f.failure" };

/** Finds a page of a project's calls by the indexes tool_calls_project and tool_calls_failure. */
const selectWalked = statement<RawRow<ToolCallSummary>>("walk_calls", pageText(ofProject, projectFailures));
const selectEnd = statement<{ id: string }>("end_call_walk", endText(ofProject, projectFailures));

/** Finds a page of the calls to one tool by the indexes tool_calls_tool and tool_calls_tool_failure. */
const selectWalkedOfTool = statement<RawRow<ToolCallSummary>>("walk_calls_of_tool", pageText(ofTool, toolFailures));
const selectEndOfTool = statement<{ id: string }>("end_call_walk_of_tool", endText(ofTool, toolFailures));

/**
 * Returns a page of the newest calls that match the filter, of one tool or of the whole project. It reads only the newest 20,000 calls, so
 * older matches are not found.
 */
export async function walkCalls(
  db: Executor,
  projectId: ProjectId,
  filter: ToolCallFilter & WalkedCallFilter,
  { after, limit }: { readonly after: Id<"call"> | undefined; readonly limit: number },
): Promise<WalkedPage<ToolCallSummary>> {
  const { toolSlug, entityId, outcome, jobId, accountId, keyId, stepId = "" } = filter;
  const { fromUuid, beforeUuid } = idBounds(filter, after);
  const failures = failuresIn(filter);
  const failedMax = Math.floor((walkRowsMax - wellMax) / Math.max(1, failures.length));
  const lanes = [wellMax, failedMax, includesWell(filter), arrayLiteral(failures), toolSlug ?? ""];
  const place = [uuidOfId(projectId), fromUuid, beforeUuid, limit, ...lanes];
  const ids = [uuidOrNull(jobId), uuidOrNull(accountId), uuidOrNull(keyId)];
  const given = [...place, outcome ?? "", entityId ?? "", ...ids, stepId];
  const isOfTool = toolSlug !== undefined;
  const [found, [end]] = await Promise.all([
    isOfTool ? selectWalkedOfTool(db, given) : selectWalked(db, given),
    isOfTool ? selectEndOfTool(db, place) : selectEnd(db, place),
  ]);
  const rows = found.map((row) => callColumns.read(row));
  if (end === undefined) return { rows, walkedTo: undefined };
  // Scans stop at different ids. The next page begins below the highest of these ids.
  const walkedTo = idOfUuid("call", end.id);
  return { rows: rows.filter(({ id }) => id >= walkedTo), walkedTo };
}

function uuidOrNull(id: Id<"job"> | AccountId | KeyId | undefined): string | null {
  return id === undefined ? null : uuidOfId(id);
}
