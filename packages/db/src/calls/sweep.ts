import { firstUuidAt } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** From the old end of the primary key. */
const sweepCalls = statement<{ id: string }>(
  "sweep_tool_calls",
  `delete from tool_calls where id in (
     select id from tool_calls where id < $1::uuid order by id limit $2::int4 for update skip locked) returning id`,
);

/** Removes up to `limit` calls made before `beforeMs`; returns how many. */
export async function sweepToolCalls(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepCalls(db, [firstUuidAt(beforeMs), limit])).length;
}
