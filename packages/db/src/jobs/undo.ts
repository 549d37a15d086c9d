import { type Id, uuidOfId } from "@svc/core";
import { and, eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { jobUndoEntries } from "../schema/jobs.ts";
import { fieldsBut, fieldsOf, idOf, namesBut, type Row, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** An undo entry (the recorded way to undo one call of a job) with its encrypted arguments. */
type JobUndoEntry = Row<typeof jobUndoEntries>;

const columns = selectList(jobUndoEntries, namesBut(jobUndoEntries, "jobId"));

/**
 * Finds the next undo entries (stored ways to undo one call) of a job. Entries are undone from the highest number down, so the statement
 * reads the primary key from its upper end. The condition names a range of the key. With a condition on the job alone and without
 * statistics, PostgreSQL read and sorted all entries of the job.
 */
const selectUndo = statement<RawRow<Omit<JobUndoEntry, "jobId">>>(
  "next_job_undo_entries",
  `select ${columns.text} from job_undo_entries
   where (job_id, entry) >= ($1::uuid, 0) and (job_id, entry) <= ($1::uuid, 2147483647) and state = 'armed'
   order by job_id desc, entry desc limit $2::int4`,
);

/** Returns the job's undo entries (recorded ways to undo its calls) that must be executed next, latest first. */
export async function nextJobUndoEntries(db: Executor, jobId: Id<"job">, limit: number): Promise<JobUndoEntry[]> {
  const rows = await selectUndo(db, [uuidOfId(jobId), limit]);
  return rows.map((row) => ({ jobId, ...columns.read(row) }));
}

const listed = selectList(jobUndoEntries, ["entry", "stepId", "ordinal", "toolSlug", "entityId", "state"]);

/** An undo entry (the recorded way to undo one call of a job) as it appears in a list, without its arguments. */
export type ListedUndoEntry = Row<
  typeof jobUndoEntries,
  "entry" | "stepId" | "ordinal" | "toolSlug" | "entityId" | "state"
>;

/** Lists the undo entries of a job in the order of the primary key. */
const selectListed = statement<RawRow<ListedUndoEntry>>(
  "list_job_undo_entries",
  // The conditions form a range of the primary key. Otherwise, PostgreSQL might read and sort all entries of the job.
  `select ${listed.text} from job_undo_entries
   where (job_id, entry) > ($1::uuid, $2::int4) and (job_id, entry) <= ($1::uuid, 2147483647)
   order by job_id, entry limit $3::int4`,
);

/** Returns undo entries of a job (recorded ways to undo its calls), in order, beginning after the entry `afterEntry`. */
export async function listJobUndoEntries(
  db: Executor,
  jobId: Id<"job">,
  { afterEntry, limit }: { readonly afterEntry: number; readonly limit: number },
): Promise<ListedUndoEntry[]> {
  return (await selectListed(db, [uuidOfId(jobId), afterEntry, limit])).map((row) => listed.read(row));
}

/** Returns true if svc tried to undo a call of the job and failed; otherwise false. */
export async function hasFailedUndo(db: Executor, jobId: Id<"job">): Promise<boolean> {
  const isLeft = and(eq(jobUndoEntries.jobId, jobId), eq(jobUndoEntries.state, "failed"));
  const rows = await db.orm.select({ entry: jobUndoEntries.entry }).from(jobUndoEntries).where(isLeft).limit(1);
  return rows.length > 0;
}

const newFields = fieldsBut(jobUndoEntries, "jobId", "state");

/** A new undo entry to store: the call with which one successful call of a job can be undone. */
export type NewJobUndoEntry = ValuesOf<typeof newFields>;

/** Result of running one undo entry (the recorded way to undo one call of a job). `entry`: number of the undo entry in its job. */
export type JobUndoChange = { readonly entry: number; readonly state: "done" | "failed" };

/**
 * Stores new undo entries of a job and the new states of stored ones. Finds the stored ones by the primary key of job_undo_entries. The new
 * states are passed as an array, because with a join PostgreSQL read all undo entries of the job.
 */
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

/** Stores new undo entries (recorded ways to undo a call) of a job. Stores the results of the undo entries that were run. */
export async function writeJobUndo(
  tx: Executor,
  jobId: Id<"job">,
  change: { entries: readonly NewJobUndoEntry[]; changes: readonly JobUndoChange[] },
): Promise<void> {
  await writeUndo(tx, { of: { jobId }, ...change });
}
