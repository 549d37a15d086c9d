import type { Id } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobRows, jobSetRows } from "../schema/jobs.ts";
import { fieldsBut, idOf, int4, int4Array, text, type ValuesOf } from "../sql/codec.ts";
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

/** Rows of a job that stand in a set one behind the other, with nothing done to them yet: the places from an ordinal on, by their numbers. */
export type JobSetRun = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly rowNumbers: readonly number[];
};

/**
 * By primary keys. What a row of a large set costs is mostly this: a column a value, and the look for a conflict, double it. No place
 * of a run is taken: a set grows with the commit that counts its rows, and is emptied before it is made again.
 */
const placeRows = compose(
  "place_job_rows",
  {
    of: values({ jobId: idOf("job"), setId: text, fromOrdinal: int4, rowNumbers: int4Array }),
    rows: rows(rowFields),
  },
  ({ of, rows: fetched }) => query`with stored as (
    insert into job_rows (job_id, ${fetched.columns}) select ${of.jobId}, ${fetched.values("r")} from ${fetched.from("r")}
  )
  insert into job_set_rows (job_id, set_id, ordinal, row_number, state)
  select ${of.jobId}, ${of.setId}, ${of.fromOrdinal} + n.place::int4 - 1, n.row_number, 'in'
  from unnest(${of.rowNumbers}) with ordinality as n(row_number, place)`,
);

/** Stores rows of a job, and places a run of rows in a set. */
export async function placeJobRows(
  tx: Executor,
  jobId: Id<"job">,
  { rows: stored, run }: { rows: readonly NewJobRow[]; run: JobSetRun },
): Promise<void> {
  await placeRows(tx, { of: { jobId, ...run }, rows: stored });
}
