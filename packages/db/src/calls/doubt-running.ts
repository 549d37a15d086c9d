import { firstUuidAt, type Id, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { filterBy } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";

/**
 * SET part of an UPDATE for a `running` call whose node died. A write may have been executed. Its outcome is unknown, and the call keeps
 * its idempotency key, so that the write is not repeated. A read becomes `timeout` and loses its idempotency key, because a read can be
 * repeated safely.
 */
const doubted = `outcome = case access_class when 'read' then 'timeout' else 'outcome_unknown' end,
     failure = case access_class when 'read' then 'timeout' else 'outcome_unknown' end,
     idempotency_key = case access_class when 'read' then null else idempotency_key end`;

/** Ends one running call whose node died. Finds the call by the primary key of tool_calls. */
const doubtRunning = statement<{ id: string }>(
  "doubt_running_call",
  `update tool_calls set ${doubted}, message = $3::text
   where ${filterBy("project_id", "$1::uuid")} and id = $2::uuid and outcome = 'running' returning id`,
);

/**
 * Ends a running call whose node died. A read gets the outcome `timeout`. A write gets the outcome `outcome_unknown`, because the app may
 * have executed it. Returns false if the call had already ended.
 */
export async function doubtRunningToolCall(
  db: Executor,
  { projectId, id, message }: { projectId: ProjectId; id: Id<"call">; message: string },
): Promise<boolean> {
  return (await doubtRunning(db, [uuidOfId(projectId), uuidOfId(id), message])).length > 0;
}

/**
 * Parameters of one step of the search for running calls whose node died: the age of these calls, the message to store in them, and the
 * maximum number of calls to read.
 */
export type LostCallSearch = {
  /** Running calls that began before this time count as lost, because their node must have stopped. In epoch milliseconds. */
  readonly beforeMs: number;
  readonly message: string;
  /** Maximum number of calls that this step of the scan reads. */
  readonly limit: number;
};

/**
 * Ends calls that are still marked as running although their node must have died. A read becomes `timeout`; the outcome of a write is
 * unknown. Each execution of this statement continues where the previous one stopped.
 */
const doubtCalls = statement<{ looked: number; doubted: number }>(
  "doubt_running_calls",
  // The scan uses the primary key. An index of running calls would have to be changed at the end of every call.
  `with seen as materialized (
     select id, outcome from tool_calls
     where id >= (select settled_before from ledger_state where id = 1) and id < $1::uuid order by id limit $3::int4
   ), doubted as (
     update tool_calls set ${doubted}, message = $2::text
     where id = any(array(select id from seen where outcome = 'running')) and ${filterBy("outcome", "'running'")} returning id
   ), moved as (
     update ledger_state set settled_before = greatest(settled_before, (
       select case when count(*) < $3::int4 then $1::uuid else (select id from seen order by id desc limit 1) end from seen))
     where id = 1
   )
   select (select count(*) from seen)::int4 as looked, (select count(*) from doubted)::int4 as doubted`,
);

/**
 * Continues the search for calls of dead nodes, in all projects, and ends the calls that it finds. Returns how many calls it scanned, and
 * how many it ended. Any number of nodes may do this at the same time.
 */
export async function doubtRunningToolCalls(
  db: Executor,
  { beforeMs, message, limit }: LostCallSearch,
): Promise<{ looked: number; doubted: number }> {
  const [row] = await doubtCalls(db, [firstUuidAt(beforeMs), message, limit]);
  return row ?? { looked: 0, doubted: 0 };
}
