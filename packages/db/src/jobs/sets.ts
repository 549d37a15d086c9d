import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobSetRows } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * A row of a set (a job's list of rows). Consecutive rows share a block with their encrypted fields. `block`: number of the block's first
 * row. `data`: the block; null if the previous row already has it, or if the caller did not request it.
 */
export type JobSetRow = Omit<Row<typeof jobSetRows>, "jobId" | "setId"> & {
  readonly block: number;
  readonly data: Buffer | null;
};

const setColumns = selectList(jobSetRows, namesBut(jobSetRows, "jobId", "setId"), "s");

/**
 * SQL columns of a row in a set. The fields of several consecutive rows are stored together in a block. So the query returns the block's
 * data only with the first row that uses it. If `$6` is false, it returns no data.
 */
const columns = `${setColumns.text}, r.row_number as block,
       case when $6::boolean and r.row_number is distinct from lag(r.row_number) over (order by s.ordinal) then r.data end as data`;

type RawSetRow = RawRow<Omit<JobSetRow, "block" | "data">> &
  Pick<JobSetRow, "block" | "data"> & { readonly found: number };

/**
 * Wraps the query `page`, so that the returned rows have about `$5` bytes in total. Rows are returned until their sizes add up to `$5`
 * bytes; the row with which they reach it is the last. `found`: number of rows of `page` without this limit. Of the omitted rows only the
 * sizes are read, not the content.
 */
const withinBytes = (page: string) => `select * from (
     select p.*, (count(*) over ())::int4 as found, coalesce(sum(coalesce(octet_length(p.outputs), 0) + coalesce(octet_length(p.data), 0))
       over (order by p.ordinal rows between unbounded preceding and 1 preceding), 0) as before from (${page}) p) sized
   where before < $5::int8 order by ordinal`;

/**
 * SQL that finds the block (group of consecutive rows in storage) of each row. It is the last block whose number is not higher than the
 * row's number. Each row costs one primary key lookup, also if the table statistics of PostgreSQL are wrong.
 */
const eachRow = `cross join lateral
     (select row_number, data from job_rows where job_id = s.job_id and row_number <= s.row_number
      order by row_number desc limit 1) r`;

/** Reads one page of a set (a job's list of rows). Uses primary keys, so the time for a page does not grow with the size of the set. */
const selectSetRows = statement<RawSetRow>(
  "read_job_set_rows",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/**
 * Reads one page of those rows of a set (a job's list of rows) that have failed, or of those with an unknown result. Uses the index
 * job_set_rows_state, which contains only rows in these two states.
 */
const selectSetRowsOf = statement<RawSetRow>(
  "read_job_set_rows_of_state",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and state = $7::text
       and state in ('failed', 'unknown') and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/**
 * Reads one page of a set (a job's list of rows), with only the rows in the given states. Rows in all other states are read and skipped, so
 * the time for a page grows with their number. Uses primary keys.
 */
const selectSetRowsIn = statement<RawSetRow>(
  "read_job_set_rows_in",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
       and state = any($7::text[])
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/**
 * A page of a set (the list of rows that a step of a job made). It contains rows from the position `fromOrdinal` on: at most `limit` rows,
 * and about `bytesMax` bytes of encrypted fields and outputs.
 */
type JobSetPage = {
  readonly fromOrdinal: number;
  readonly limit: number;
  readonly bytesMax: number;
  /** True to return the rows' fields; false to return rows without them. */
  readonly withData: boolean;
};

/**
 * Returns rows of a set (the list of rows that a step of a job made) in the order of their positions, from `fromOrdinal` on. If `set` names
 * one or several states, only rows in these states are returned. `hasMore`: true if the page is full in rows or bytes, so that more rows
 * may follow.
 */
export async function readJobSetRows(
  db: Executor,
  set: JobSetPart,
  { fromOrdinal, limit, bytesMax, withData }: JobSetPage,
): Promise<{ readonly rows: JobSetRow[]; readonly hasMore: boolean }> {
  const place = [uuidOfId(set.jobId), set.setId, fromOrdinal, limit, bytesMax, withData];
  const found = await (set.state !== undefined
    ? selectSetRowsOf(db, [...place, set.state])
    : set.states === undefined
      ? selectSetRows(db, place)
      : selectSetRowsIn(db, [...place, arrayLiteral(set.states)]));
  const hasMore = found.length === limit || found.length < (found[0]?.found ?? 0);
  return { rows: found.map((row) => setColumns.read(row)), hasMore };
}

/** A set (list of rows) of a job. If `state` or `states` is given, only the set's rows in these states. */
type JobSetPart = {
  readonly jobId: Id<"job">;
  readonly setId: string;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly Row<typeof jobSetRows>["state"][] | undefined;
};

/**
 * Rows of a set (list of rows of a job) as three lists of equal length: the positions in the set (`ordinals`), and the number and state of
 * the row at each position.
 */
export type JobSetPositions = {
  readonly ordinals: readonly number[];
  readonly rowNumbers: readonly number[];
  readonly states: readonly JobSetRow["state"][];
};

type RawPositions = {
  readonly ordinals: string | null;
  readonly row_numbers: string | null;
  readonly states: string | null;
};

/**
 * Returns the SQL query for rows of a set (a list that a job processes). Its result is one database row with three lists: positions, row
 * numbers and states. `found`: a further SQL condition.
 */
const positionsOf = (found: string) => `select array_to_string(array_agg(s.ordinal), ',') as ordinals,
    array_to_string(array_agg(s.row_number), ',') as row_numbers, array_to_string(array_agg(s.state), ',') as states
  from (select ordinal, row_number, state from job_set_rows
    where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4 ${found} order by ordinal limit $4::int4) s`;

/**
 * Reads positions of rows in a set (the list of rows that a step of a job made). Finds them by the primary key of the set's rows, so the
 * time for a page does not grow with the size of the set.
 */
const selectPositions = statement<RawPositions>("read_job_set_places", positionsOf(""));

/**
 * Finds the positions of the rows of a set (a job's list of rows) that are in the given states. Rows in all other states are read and
 * skipped, so the time for a page grows with their number. Uses the primary key of the set's rows.
 */
const selectPositionsIn = statement<RawPositions>("read_job_set_places_in", positionsOf("and state = any($5::text[])"));

/**
 * Returns rows of a stored set (the list that a step of a job produced) by their positions, in order, from `fromOrdinal` on. If `states` is
 * given, returns only rows in these states.
 */
export async function readJobSetPositions(
  db: Executor,
  { jobId, setId, states }: Omit<JobSetPart, "state">,
  { fromOrdinal, limit }: { fromOrdinal: number; limit: number },
): Promise<JobSetPositions> {
  const place = [uuidOfId(jobId), setId, fromOrdinal, limit];
  const [found] = await (states === undefined
    ? selectPositions(db, place)
    : selectPositionsIn(db, [...place, arrayLiteral(states)]));
  return {
    ordinals: listOf(found?.ordinals).map(Number),
    rowNumbers: listOf(found?.row_numbers).map(Number),
    states: listOf(found?.states) as JobSetRow["state"][],
  };
}

function listOf(text: string | null | undefined): string[] {
  return text === null || text === undefined ? [] : text.split(",");
}
