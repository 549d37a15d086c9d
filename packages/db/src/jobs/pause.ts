import { type Id, isoTime, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const setPause = statement<{ id: string }>(
  "set_job_pause",
  "update jobs set paused_at = $2::timestamptz, pause_chain = $3::text[] where id = $1::uuid returning id",
);

/**
 * Says that a job is to be paused, since when and by whom; undefined: that it is not. Its row is locked by then, and it has not ended.
 * Its driver finds it with its next commit.
 */
export async function setJobPause(
  tx: Executor,
  jobId: Id<"job">,
  pause: { readonly atMs: number; readonly chain: readonly string[] } | undefined,
): Promise<void> {
  await setPause(tx, [
    uuidOfId(jobId),
    pause === undefined ? null : isoTime(pause.atMs),
    pause === undefined ? null : arrayLiteral([...pause.chain]),
  ]);
}
