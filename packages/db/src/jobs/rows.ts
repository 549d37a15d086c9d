import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobRows, jobSetRows } from "../schema/jobs.ts";
import { fieldsBut, idOf, int4, int4Array, text, type ValuesOf } from "../sql/codec.ts";
import { compose, type PartNames, query } from "../sql/compose.ts";
import { rows, values } from "../sql/select-list.ts";
import { arrayLiteral, plainArrayLiteral, statement } from "../sql/statement.ts";
import type { JobSetRow } from "./sets.ts";

/** A block of rows: the sealed fields of several rows. `number` is the number of the block's first row. */
type JobRowBlock = { readonly number: number; readonly data: Buffer };

/** Ranges of consecutive row numbers. `firsts`: first number of each range. `lasts`: last number of each range. */
type RowRuns = { readonly firsts: readonly number[]; readonly lasts: readonly number[] };

/** Reads the blocks that contain the requested rows of a job. A block is a stored group of consecutive rows. Uses the primary key. */
const selectBlocks = statement<JobRowBlock>(
  "read_job_row_blocks",
  // The first row of a range is in the last block that starts at or before this row.
  // The lengths of the blocks are added up first, so that no blocks beyond $4 bytes are read.
  `with named as (
     select distinct k.row_number from unnest($2::int4[], $3::int4[]) as u (first, last) cross join lateral
       (select row_number from job_rows where job_id = $1::uuid and row_number <= u.last and row_number >=
          (select row_number from job_rows where job_id = $1::uuid and row_number <= u.first order by row_number desc limit 1)
        order by row_number offset 0) k
   ), sized as (
     select r.row_number, r.data, sum(octet_length(r.data)) over (order by r.row_number) - octet_length(r.data) as before
     from named n cross join lateral
       (select row_number, data from job_rows where job_id = $1::uuid and row_number = n.row_number offset 0) r
   )
   select row_number as number, data from sized where before < $4::int8 order by row_number`,
);

/**
 * The rows of a job are stored in blocks of several rows. Returns the blocks that contain the given rows, ordered by row number. Returns no
 * further blocks once their total size has reached `bytesMax` bytes.
 */
export async function readJobRowBlocks(
  db: Executor,
  jobId: Id<"job">,
  { firsts, lasts, bytesMax }: RowRuns & { readonly bytesMax: number },
): Promise<JobRowBlock[]> {
  return selectBlocks(db, [uuidOfId(jobId), plainArrayLiteral(firsts), plainArrayLiteral(lasts), bytesMax]);
}

const rowFields = fieldsBut(jobRows, "jobId");
const setRowFields = fieldsBut(jobSetRows, "jobId");

/** A new row of a job: one record that a step fetched. `data` is encrypted. */
export type NewJobRow = ValuesOf<typeof rowFields>;

/**
 * A row's position and state in a set (the list of rows that a step of a job made). If the set already has this position, the stored state
 * is replaced.
 */
export type JobSetRowChange = ValuesOf<typeof setRowFields>;

/**
 * Stores new rows of a job, and stores or changes the positions and states of rows in sets (lists of rows that steps made). Finds existing
 * positions by their primary key.
 */
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

/** Stores new rows of a job, and the positions and states of rows in its sets (lists of rows that steps made). */
export async function writeJobRows(
  tx: Executor,
  jobId: Id<"job">,
  change: { rows: readonly NewJobRow[]; setRows: readonly JobSetRowChange[] },
): Promise<void> {
  await writeRows(tx, { of: { jobId }, ...change });
}

/**
 * Consecutive rows to append to a set (the list of rows that a step of a job made). The rows have no results yet. `fromOrdinal`: position
 * of the first row in the set. `rowNumbers`: the numbers of the rows.
 */
export type JobSetRun = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly rowNumbers: readonly number[];
};

/**
 * The parameters for adding a page of rows to a set (list of rows) of a job. `rows`: the rows. `of`: the set, and the place of the rows in
 * the set.
 */
export const pageParts = {
  of: values({ setId: text, fromOrdinal: int4, rowNumbers: int4Array }),
  rows: rows(rowFields),
};

/**
 * A page of rows to store. `rows`: the new rows of a job. `run`: the range of row numbers to append to one of the job's sets (lists of
 * rows).
 */
export type JobPage = { readonly rows: readonly NewJobRow[]; readonly run: JobSetRun };

/**
 * Returns two SQL statements that store a page of a job's rows. `rows`: stores the rows. `positions`: stores their places in a set (the list
 * of rows that a step makes). `job`: SQL expression of the job's id. `from`: SQL source of that id, with a comma, or empty.
 */
export function storePage(
  { of, rows: fetched }: PartNames<typeof pageParts>,
  { job, from }: { readonly job: string; readonly from: string },
): { readonly rows: string; readonly positions: string } {
  // One parameter for each value and a check for conflicts would double the time. The positions are always free: a set grows only in the
  // commit that counts its rows, and is emptied before a step fills it again.
  return {
    rows: `insert into job_rows (job_id, ${fetched.columns}) select ${job}, ${fetched.values("r")} from ${from}${fetched.from("r")}`,
    positions: `insert into job_set_rows (job_id, set_id, ordinal, row_number, state)
    select ${job}, ${of.setId}, ${of.fromOrdinal} + n.place::int4 - 1, n.row_number, 'in'
    from ${from}unnest(${of.rowNumbers}) with ordinality as n(row_number, place)`,
  };
}

const insertRowsAndSets = compose(
  "place_job_rows",
  { job: values({ jobId: idOf("job") }), ...pageParts },
  ({ job: { jobId }, ...page }) => {
    const stores = storePage(page, { job: jobId, from: "" });
    return query`with stored as (${stores.rows}) ${stores.positions}`;
  },
);

/** Stores a page of new rows of a job. Appends the range of their row numbers to one of the job's sets (lists of rows). */
export async function storeJobRows(tx: Executor, jobId: Id<"job">, { rows: stored, run }: JobPage): Promise<void> {
  await insertRowsAndSets(tx, { job: { jobId }, of: run, rows: stored });
}

const updateStates = statement<{ ordinal: number }>(
  "set_job_row_states",
  `update job_set_rows set state = $4::text where job_id = $1::uuid and set_id = $2::text and state = $3::text`,
);

/**
 * Changes the state of all rows of a set (list of rows) that are in the state `from` to the state `to`. Returns the number of changed rows.
 */
export async function setJobRowStates(
  tx: Executor,
  set: { jobId: Id<"job">; setId: string },
  change: { from: "failed" | "unknown"; to: JobSetRow["state"] },
): Promise<number> {
  return (await updateStates(tx, [uuidOfId(set.jobId), set.setId, change.from, change.to])).count;
}

/**
 * Deletes all entries of the given sets (lists of rows that a job's steps made). Finds them by the start of their primary key, the job and
 * the set.
 */
const clearSets = statement<{ set_id: string }>(
  "clear_job_sets",
  "delete from job_set_rows where job_id = $1::uuid and set_id = any($2::text[])",
);

/** Empties sets (lists of rows that steps made) of a job. The rows stay stored, because further sets may contain them. */
export async function clearJobSets(tx: Executor, jobId: Id<"job">, setIds: readonly string[]): Promise<void> {
  await clearSets(tx, [uuidOfId(jobId), arrayLiteral(setIds)]);
}
