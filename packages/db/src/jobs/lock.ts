import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const lockRow = statement<{ id: string }>("lock_job", "select id from jobs where id = $1::uuid for no key update");

/** Locks a job's row for the rest of the transaction. Whoever writes to a job or its tasks does this first. */
export async function lockJob(tx: Executor, jobId: Id<"job">): Promise<void> {
  await lockRow(tx, [uuidOfId(jobId)]);
}
