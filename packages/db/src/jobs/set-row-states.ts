import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import type { JobSetRow } from "./read-set-rows.ts";

const updateStates = statement<{ ordinal: number }>(
  "set_job_row_states",
  `update job_set_rows set state = $4::text where job_id = $1::uuid and set_id = $2::text and state = $3::text`,
);

/** Gives all rows of a set in one state another; returns how many. */
export async function setJobRowStates(
  tx: Executor,
  set: { jobId: Id<"job">; setId: string },
  change: { from: "failed" | "unknown"; to: JobSetRow["state"] },
): Promise<number> {
  return (await updateStates(tx, [uuidOfId(set.jobId), set.setId, change.from, change.to])).count;
}
