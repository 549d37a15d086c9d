import type { Id } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobRows, jobSetRows } from "../schema/jobs.ts";
import { fieldsBut, idOf, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/parts.ts";

const rowFields = fieldsBut(jobRows, "jobId");
const setRowFields = fieldsBut(jobSetRows, "jobId");

/** A row that a step fetched; `data` is sealed. */
export type NewJobRow = ValuesOf<typeof rowFields>;

/** A row's place and state in a set. One that is there already takes the new state. */
export type JobSetRowChange = ValuesOf<typeof setRowFields>;

/** By primary keys. */
const writeRows = compose(
  "write_job_rows",
  { of: values({ jobId: idOf("job") }), rows: rows(rowFields), setRows: rows(setRowFields) },
  ({ of, rows: fetched, setRows }) => query`with stored as (
    insert into job_rows (job_id, ${fetched.columns}) select ${of.jobId}, ${fetched.values("r")} from ${fetched.from("r")}
  )
  insert into job_set_rows (job_id, ${setRows.columns}) select ${of.jobId}, ${setRows.values("s")} from ${setRows.from("s")}
  on conflict (job_id, set_id, ordinal) do update set row_number = excluded.row_number, state = excluded.state,
    done_calls = excluded.done_calls, outputs = excluded.outputs, error_code = excluded.error_code`,
);

/** Stores rows of a job and their places in its sets. */
export async function writeJobRows(
  tx: Executor,
  jobId: Id<"job">,
  change: { rows: readonly NewJobRow[]; setRows: readonly JobSetRowChange[] },
): Promise<void> {
  await writeRows(tx, { of: { jobId }, ...change });
}
