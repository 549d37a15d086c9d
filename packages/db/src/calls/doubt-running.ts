import { type Id, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { filterBy } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";

/**
 * What becomes of a `running` call whose node is gone: a write may have been executed, and goes on binding its key; a read left
 * nothing in doubt, and frees it. For the SET of an UPDATE.
 */
const doubted = `outcome = case access_class when 'read' then 'timeout' else 'outcome_unknown' end,
     idempotency_key = case access_class when 'read' then null else idempotency_key end`;

/** By primary key. */
const doubtRunning = statement<{ id: string }>(
  "doubt_running_call",
  `update tool_calls set ${doubted}, message = $3::text
   where ${filterBy("project_id", "$1::uuid")} and id = $2::uuid and outcome = 'running' returning id`,
);

/** Ends a call whose node is gone, as `doubted` says. False when it was settled meanwhile. */
export async function doubtRunningToolCall(
  db: Executor,
  { projectId, id, message }: { projectId: ProjectId; id: Id<"call">; message: string },
): Promise<boolean> {
  return (await doubtRunning(db, [uuidOfId(projectId), uuidOfId(id), message])).length > 0;
}

/** Served by tool_calls_running, which holds running calls alone. */
const doubtCalls = statement<{ id: string }>(
  "doubt_running_calls",
  `update tool_calls set ${doubted}, message = $2::text
   where id in (select id from tool_calls where outcome = 'running' and created_at < $1::timestamptz
                order by created_at limit 1000 for update skip locked) returning id`,
);

/** Ends up to 1,000 calls that began before `beforeMs` and whose node is gone; returns how many. */
export async function doubtRunningToolCalls(db: Executor, beforeMs: number, message: string): Promise<number> {
  return (await doubtCalls(db, [isoTime(beforeMs), message])).length;
}
