import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const countHold = statement<{ loop_holds: number }>(
  "count_job_loop_hold",
  `update jobs set loop_holds = loop_holds + 1 where id = $1::uuid and finished_at is null returning loop_holds`,
);

/** By primary key. */
const clearHolds = statement<{ id: string }>(
  "clear_job_loop_holds",
  `update jobs set loop_holds = 0 where id = $1::uuid and loop_holds > 0 returning id`,
);

/**
 * Counts that a job held a node's event loop, and locks its row for the rest of the transaction. Answers how often it did by now;
 * undefined for a job that has ended or is not there.
 */
export async function countJobLoopHold(tx: Executor, jobId: Id<"job">): Promise<number | undefined> {
  const [row] = await countHold(tx, [uuidOfId(jobId)]);
  return row?.loop_holds;
}

/** Begins the count of `countJobLoopHold` anew. */
export async function clearJobLoopHolds(tx: Executor, jobId: Id<"job">): Promise<void> {
  await clearHolds(tx, [uuidOfId(jobId)]);
}
