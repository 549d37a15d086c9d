import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const countRefused = statement<{ refused: number }>(
  "count_refused_answer",
  "update job_asks set refused_answers = refused_answers + 1 where id = $1::uuid returning refused_answers as refused",
);

/** Counts a refused answer to an ask; returns how many there are now. */
export async function countRefusedAnswer(tx: Executor, id: Id<"ask">): Promise<number> {
  const [row] = await countRefused(tx, [uuidOfId(id)]);
  return row?.refused ?? 0;
}

/** By primary key. */
const countUnasked = statement<{ refused: number }>(
  "count_unasked_answer",
  "update jobs set refused_answers = refused_answers + 1 where id = $1::uuid returning refused_answers as refused",
);

/** Counts a refused answer to a job that has asked nothing; returns how many there are now. */
export async function countUnaskedAnswer(tx: Executor, jobId: Id<"job">): Promise<number> {
  const [row] = await countUnasked(tx, [uuidOfId(jobId)]);
  return row?.refused ?? 0;
}
