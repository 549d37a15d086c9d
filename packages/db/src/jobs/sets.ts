import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobSetRows } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * A row in a set, with what is sealed of it. `block`: the number under which its fields are stored, its own or that of a row before it;
 * `data` is null where the row before it has the same, and where it is not wanted.
 */
export type JobSetRow = Omit<Row<typeof jobSetRows>, "jobId" | "setId"> & {
  readonly block: number;
  readonly data: Buffer | null;
};

const setColumns = selectList(jobSetRows, namesBut(jobSetRows, "jobId", "setId"), "s");

/** A block is sent once, however many of its rows follow each other; none where `$6` is false. */
const columns = `${setColumns.text}, r.row_number as block,
       case when $6::boolean and r.row_number is distinct from lag(r.row_number) over (order by s.ordinal) then r.data end as data`;

type RawSetRow = RawRow<Omit<JobSetRow, "block" | "data">> &
  Pick<JobSetRow, "block" | "data"> & { readonly found: number };

/**
 * Of the rows of a page as many as come to the bytes of `$5`, up to the one with which they do. How long what is sealed is stands beside
 * it, so that what is too much is not read. `found` counts the page.
 */
const withinBytes = (page: string) => `select * from (
     select p.*, (count(*) over ())::int4 as found, coalesce(sum(coalesce(octet_length(p.outputs), 0) + coalesce(octet_length(p.data), 0))
       over (order by p.ordinal rows between unbounded preceding and 1 preceding), 0) as before from (${page}) p) sized
   where before < $5::int8 order by ordinal`;

/** A row's block is the last one that begins at it or before it. One lookup by primary key a row, whatever statistics say. */
const eachRow = `cross join lateral
     (select row_number, data from job_rows where job_id = s.job_id and row_number <= s.row_number
      order by row_number desc limit 1) r`;

/** By primary key of both: the time of a page does not grow with the set. */
const selectSetRows = statement<RawSetRow>(
  "read_job_set_rows",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/** Served by job_set_rows_state, which holds the rows of these two states alone. */
const selectSetRowsOf = statement<RawSetRow>(
  "read_job_set_rows_of_state",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and state = $7::text
       and state in ('failed', 'unknown') and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/** By primary key of both; what is in another state is read and left out, so that the time of a page grows with how much that is. */
const selectSetRowsIn = statement<RawSetRow>(
  "read_job_set_rows_in",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
       and state = any($7::text[])
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/** What of a set is read: from an ordinal on at most so many rows, and so many sealed bytes of fields and outputs, about. */
type JobSetPage = {
  readonly fromOrdinal: number;
  readonly limit: number;
  readonly bytesMax: number;
  /** False leaves the fields out. */
  readonly withData: boolean;
};

/**
 * Rows of a set by ordinal, from `fromOrdinal` on; with a state, or with states, only those in them. `hasMore` where others may stand
 * behind them: the page is full, in rows or in bytes.
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

/** A set of a job, or its rows in one state, or in some. */
type JobSetPart = {
  readonly jobId: Id<"job">;
  readonly setId: string;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly Row<typeof jobSetRows>["state"][] | undefined;
};

/** Places in a set, one behind the other: ordinals, and of each the number and the state of the row that stands there. */
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

/** One row of lists: to send and to read a row a place costs several times as much. They have the order of the subquery. */
const positionsOf = (found: string) => `select array_to_string(array_agg(s.ordinal), ',') as ordinals,
    array_to_string(array_agg(s.row_number), ',') as row_numbers, array_to_string(array_agg(s.state), ',') as states
  from (select ordinal, row_number, state from job_set_rows
    where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4 ${found} order by ordinal limit $4::int4) s`;

/** By primary key: the time of a page does not grow with the set. */
const selectPositions = statement<RawPositions>("read_job_set_places", positionsOf(""));

/** By primary key; what is in another state is read and left out, so that the time of a page grows with how much that is. */
const selectPositionsIn = statement<RawPositions>("read_job_set_places_in", positionsOf("and state = any($5::text[])"));

/** Places of a set by ordinal, from `fromOrdinal` on; with states, only those of rows in them. */
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
