import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobSetRows } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * A row in a set, with its sealed fields. `block`: number of the block that contains the row's fields; it is at or below the row's own
 * number. `data` is null if the previous row is in the same block, or if the caller did not request data.
 */
export type JobSetRow = Omit<Row<typeof jobSetRows>, "jobId" | "setId"> & {
  readonly block: number;
  readonly data: Buffer | null;
};

const setColumns = selectList(jobSetRows, namesBut(jobSetRows, "jobId", "setId"), "s");

/** Sends a block once for consecutive rows, and never if `$6` is false. */
const columns = `${setColumns.text}, r.row_number as block,
       case when $6::boolean and r.row_number is distinct from lag(r.row_number) over (order by s.ordinal) then r.data end as data`;

type RawSetRow = RawRow<Omit<JobSetRow, "block" | "data">> &
  Pick<JobSetRow, "block" | "data"> & { readonly found: number };

/**
 * Limits a page to the rows that fit into `$5` bytes, including the row that reaches it. Lengths are read without the content, so that rows
 * beyond the limit are not read. `found` counts the page.
 */
const withinBytes = (page: string) => `select * from (
     select p.*, (count(*) over ())::int4 as found, coalesce(sum(coalesce(octet_length(p.outputs), 0) + coalesce(octet_length(p.data), 0))
       over (order by p.ordinal rows between unbounded preceding and 1 preceding), 0) as before from (${page}) p) sized
   where before < $5::int8 order by ordinal`;

/** A row's block is the last one that begins at or before it. One lookup by primary key per row, with any statistics. */
const eachRow = `cross join lateral
     (select row_number, data from job_rows where job_id = s.job_id and row_number <= s.row_number
      order by row_number desc limit 1) r`;

/** Uses both primary keys: the time of a page does not grow with the set. */
const selectSetRows = statement<RawSetRow>(
  "read_job_set_rows",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/** Uses the index job_set_rows_state, which has only rows in these two states. */
const selectSetRowsOf = statement<RawSetRow>(
  "read_job_set_rows_of_state",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and state = $7::text
       and state in ('failed', 'unknown') and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/** Uses both primary keys. Rows in other states are read and skipped, so the time of a page grows with their number. */
const selectSetRowsIn = statement<RawSetRow>(
  "read_job_set_rows_in",
  withinBytes(`select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
       and state = any($7::text[])
     order by ordinal limit $4::int4) s ${eachRow}`),
);

/** Page of a set: from an ordinal on, at most `limit` rows and about `bytesMax` sealed bytes of fields and outputs. */
type JobSetPage = {
  readonly fromOrdinal: number;
  readonly limit: number;
  readonly bytesMax: number;
  /** False omits the fields. */
  readonly withData: boolean;
};

/**
 * Returns rows of a set by ordinal, from `fromOrdinal` on; with a state or states, only rows in them. `hasMore`: more rows may follow,
 * because the page is full in rows or bytes.
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

/** A set of a job, or its rows in one state or several. */
type JobSetPart = {
  readonly jobId: Id<"job">;
  readonly setId: string;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly Row<typeof jobSetRows>["state"][] | undefined;
};

/** Consecutive positions in a set: ordinals, and the number and state of the row at each. */
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

/** One row of lists, in the order of the subquery: a row per position costs several times as much. */
const positionsOf = (found: string) => `select array_to_string(array_agg(s.ordinal), ',') as ordinals,
    array_to_string(array_agg(s.row_number), ',') as row_numbers, array_to_string(array_agg(s.state), ',') as states
  from (select ordinal, row_number, state from job_set_rows
    where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4 ${found} order by ordinal limit $4::int4) s`;

/** Uses the primary key: the time of a page does not grow with the set. */
const selectPositions = statement<RawPositions>("read_job_set_places", positionsOf(""));

/** Uses the primary key. Rows in other states are read and skipped, so the time of a page grows with their number. */
const selectPositionsIn = statement<RawPositions>("read_job_set_places_in", positionsOf("and state = any($5::text[])"));

/** Returns positions of a set by ordinal, from `fromOrdinal` on; with states, only rows in them. */
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
