import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobSetRows } from "../schema/jobs.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/**
 * A row in a set, with what is sealed of it. `block`: the number under which its fields are stored, its own or that of a row before it;
 * `data` is null where the row before it has the same.
 */
export type JobSetRow = Omit<Row<typeof jobSetRows>, "jobId" | "setId"> & {
  readonly block: number;
  readonly data: Buffer | null;
};

const setColumns = selectList(jobSetRows, namesBut(jobSetRows, "jobId", "setId"), "s");

/** A block is sent once, however many of its rows follow each other. */
const columns = `${setColumns.text}, r.row_number as block,
       case when r.row_number is distinct from lag(r.row_number) over (order by s.ordinal) then r.data end as data`;

type RawSetRow = RawRow<Omit<JobSetRow, "block" | "data">> & Pick<JobSetRow, "block" | "data">;

/** A row's block is the last one that begins at it or before it. One lookup by primary key a row, whatever statistics say. */
const eachRow = `cross join lateral
     (select row_number, data from job_rows where job_id = s.job_id and row_number <= s.row_number
      order by row_number desc limit 1) r`;

/** By primary key of both: the time of a page does not grow with the set. */
const selectSetRows = statement<RawSetRow>(
  "read_job_set_rows",
  `select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}
   order by s.ordinal`,
);

/** Served by job_set_rows_state, which holds the rows of these two states alone. */
const selectSetRowsOf = statement<RawSetRow>(
  "read_job_set_rows_of_state",
  `select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and state = $5::text
       and state in ('failed', 'unknown') and ordinal >= $3::int4
     order by ordinal limit $4::int4) s ${eachRow}
   order by s.ordinal`,
);

/** By primary key of both; what is in another state is read and left out, so that the time of a page grows with how much that is. */
const selectSetRowsIn = statement<RawSetRow>(
  "read_job_set_rows_in",
  `select ${columns} from (
     select * from job_set_rows where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4
       and state = any($5::text[])
     order by ordinal limit $4::int4) s ${eachRow}
   order by s.ordinal`,
);

/** Rows of a set by ordinal, from `fromOrdinal` on; with a state, or with states, only those in them. */
export async function readJobSetRows(
  db: Executor,
  set: JobSetPart,
  { fromOrdinal, limit }: { fromOrdinal: number; limit: number },
): Promise<JobSetRow[]> {
  const place = [uuidOfId(set.jobId), set.setId, fromOrdinal, limit];
  const rows = await (set.state !== undefined
    ? selectSetRowsOf(db, [...place, set.state])
    : set.states === undefined
      ? selectSetRows(db, place)
      : selectSetRowsIn(db, [...place, arrayLiteral(set.states)]));
  return rows.map((row) => setColumns.read(row));
}

/** A set of a job, or its rows in one state, or in some. */
export type JobSetPart = {
  readonly jobId: Id<"job">;
  readonly setId: string;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly Row<typeof jobSetRows>["state"][] | undefined;
};
