import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobRows, jobSetRows } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** A row in a set, with what is sealed of it. */
export type JobSetRow = Omit<Row<typeof jobSetRows>, "jobId" | "setId"> & Row<typeof jobRows, "data">;

const setColumns = selectList(jobSetRows, namesBut(jobSetRows, "jobId", "setId"), "s");
const columns = `${setColumns.text}, ${selectList(jobRows, ["data"], "r").text}`;

type RawSetRow = RawRow<JobSetRow> & { data: Buffer };

/** `offset 0` keeps it a lookup by primary key: a join was planned through all rows of the job when statistics were old. */
const eachRow = `cross join lateral
     (select data from job_rows where job_id = s.job_id and row_number = s.row_number offset 0) r`;

/** By primary key of both: the time of a chunk does not grow with the set. */
const selectSetRows = statement<RawSetRow>(
  "read_job_set_rows",
  `select ${columns} from job_set_rows s ${eachRow}
   where s.job_id = $1::uuid and s.set_id = $2::text and s.ordinal >= $3::int4 order by s.ordinal limit $4::int4`,
);

/** Served by job_set_rows_state, which holds the rows of these two states alone. */
const selectSetRowsOf = statement<RawSetRow>(
  "read_job_set_rows_of_state",
  `select ${columns} from job_set_rows s ${eachRow}
   where s.job_id = $1::uuid and s.set_id = $2::text and s.state = $5::text and s.state in ('failed', 'unknown')
     and s.ordinal >= $3::int4
   order by s.ordinal limit $4::int4`,
);

/** Rows of a set by ordinal, from `fromOrdinal` on; with a state, only those in it. */
export async function readJobSetRows(
  db: Executor,
  set: { jobId: Id<"job">; setId: string; state?: "failed" | "unknown" | undefined },
  { fromOrdinal, limit }: { fromOrdinal: number; limit: number },
): Promise<JobSetRow[]> {
  const place = [uuidOfId(set.jobId), set.setId, fromOrdinal, limit];
  const rows = await (set.state === undefined ? selectSetRows(db, place) : selectSetRowsOf(db, [...place, set.state]));
  return rows.map((row) => setColumns.read(row));
}
