import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { plainArrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/** Fields of rows that are sealed together; `number` is that of the first of them. */
export type JobRowBlock = { readonly number: number; readonly data: Buffer };

/** Row numbers that follow each other: the first ones and the last ones of runs. */
export type RowRuns = { readonly firsts: readonly number[]; readonly lasts: readonly number[] };

/**
 * A run begins in the last block that begins at it or before it. By primary key, a lookup a run and a block; a block is sent once, and how
 * long it is stands beside it, so that what is too much is not read.
 */
const selectBlocks = statement<JobRowBlock>(
  "read_job_row_blocks",
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

/** The blocks of a job in which runs of rows stand, in the order of their numbers, up to the one with which they come to so many bytes. */
export async function readJobRowBlocks(
  db: Executor,
  jobId: Id<"job">,
  { firsts, lasts, bytesMax }: RowRuns & { readonly bytesMax: number },
): Promise<JobRowBlock[]> {
  return selectBlocks(db, [uuidOfId(jobId), plainArrayLiteral(firsts), plainArrayLiteral(lasts), bytesMax]);
}
