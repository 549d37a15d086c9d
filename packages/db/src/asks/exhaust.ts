import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const exhaust = statement<{ id: string }>(
  "exhaust_ask",
  "update job_asks set exhausted = true, deadline_at = null where id = $1::uuid and state = 'pending' returning id",
);

/** Marks a pending ask as one that goes nowhere any more. */
export async function exhaustAsk(tx: Executor, id: Id<"ask">): Promise<boolean> {
  return (await exhaust(tx, [uuidOfId(id)])).length > 0;
}
