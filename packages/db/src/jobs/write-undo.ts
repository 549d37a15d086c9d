import type { Id } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobUndoEntries } from "../schema/jobs.ts";
import { fieldsBut, fieldsOf, idOf, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/parts.ts";

const newFields = fieldsBut(jobUndoEntries, "jobId", "state");

/** How one call may be undone. */
export type NewJobUndoEntry = ValuesOf<typeof newFields>;

/** What becomes of an undo entry. */
export type JobUndoChange = { readonly entry: number; readonly state: "done" | "failed" };

/** By primary key: a join with the changes was planned through all entries of the job. */
const writeUndo = compose(
  "write_job_undo_entries",
  {
    of: values({ jobId: idOf("job") }),
    entries: rows(newFields),
    changes: rows(fieldsOf(jobUndoEntries, "entry", "state")),
  },
  ({ of, entries, changes }) => query`with changed as (
    update job_undo_entries u set state = (select i.state from ${changes.from("i")} where i.entry = u.entry)
    where u.job_id = ${of.jobId} and u.entry = any(${changes.arrays.entry})
  )
  insert into job_undo_entries (job_id, state, ${entries.columns})
  select ${of.jobId}, 'armed', ${entries.values("u")} from ${entries.from("u")}`,
);

/** Arms new undo entries of a job, and notes what became of earlier ones. */
export async function writeJobUndo(
  tx: Executor,
  jobId: Id<"job">,
  change: { entries: readonly NewJobUndoEntry[]; changes: readonly JobUndoChange[] },
): Promise<void> {
  await writeUndo(tx, { of: { jobId }, ...change });
}
