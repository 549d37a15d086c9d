import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobEvents } from "../schema/jobs.ts";
import { fieldsBut, idOf, int4, type NewRow, namesBut, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, rows, selectList, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { chainOfJob } from "./principals.ts";
import type { JobEventRecord, NewJobEvent } from "./record.ts";

const fields = fieldsBut(jobEvents, "seq", "at", "jobId");

/**
 * The columns of a new log row that the caller sets; the statement computes the others. `seq`: position of an entry among those written
 * together, from 1. The statement replaces it by the final number.
 */
export const logRowFields = { ...fieldsBut(jobEvents, "at", "jobId") };

/**
 * The SQL for columns of a log row: the list of column names, and the list of values. The columns for the number (`seq`), the time and the
 * job are left out, because the statement computes them.
 */
export const logRowColumns = rows(fields).names(1);

/** A row to write to a job's log. `seq`: its place among the entries that are written together, from 1. */
type NewLogRow = NewRow<typeof jobEvents, keyof typeof logRowFields>;

// Maximum characters of a log row. It keeps a row below 2 KB: PostgreSQL compresses larger rows and stores them in another table.
const charactersMax = 1_500;

/**
 * Type of a log entry about the delivery of a question to endpoints. SQL statements look for the latest such entry of each question. One
 * database row may contain several log entries, and these statements read only its first entry. Therefore each entry of this type begins a
 * new database row.
 */
const searchedType = "ask-delivery-changed";

/**
 * Returns the log rows for entries, in order. Short entries that are written together share a row, because the fixed cost of a row and its
 * index entry is higher than that of most entries.
 */
export function logRowsOf(entries: readonly NewJobEvent[]): NewLogRow[] {
  const all: { first: NewJobEvent; seq: number; following: NewJobEvent[]; characters: number }[] = [];
  for (const [index, entry] of entries.entries()) {
    const row = all.at(-1);
    const characters = entry.payload.length + entry.type.length + JSON.stringify(entry.principalChain ?? "").length;
    if (row === undefined || entry.type === searchedType || row.characters + characters > charactersMax) {
      all.push({ first: entry, seq: index + 1, following: [], characters });
    } else {
      row.following.push(entry);
      row.characters += characters;
    }
  }
  return all.map(({ first, seq, following }) => ({
    ...first,
    seq,
    following: following.length === 0 ? null : following,
  }));
}

/**
 * Type of the log entry about a job's program. The entry is stored without the hash of the program, because the row of the program has it.
 * The hash is added when the entry is read.
 */
const submittedType = "job-submitted";

/** A row of the table of job logs, with the columns of the job that are needed to read the row's entries. */
type ReadRow = typeof jobEvents.$inferSelect & {
  /**
   * The job's principal chain (the keys and programs that caused the job, in order). It applies to log entries for which no chain of their
   * own is stored.
   */
  readonly jobChain: string[];
  /**
   * Hash of the job's program, if the first entry of this log row has the type `job-submitted`; null otherwise. (One row can contain
   * several entries.)
   */
  readonly programHash: string | null;
};

/** Returns the entries of a job's log from the stored rows, in order. One row can contain several entries. */
function entriesOf(log: readonly ReadRow[]): JobEventRecord[] {
  return log.flatMap(({ jobChain, programHash, following, ...stored }) => {
    const row = { ...stored, payload: programHash === null ? stored.payload : withHash(stored.payload, programHash) };
    const { jobId, seq, at } = row;
    const rest = (following ?? []).map((entry, index) => ({ ...entry, jobId, seq: seq + 1 + index, at }));
    return [row, ...rest].map(({ principalChain, ...entry }) => ({
      ...entry,
      principalChain: [...(principalChain ?? jobChain)],
    }));
  });
}

/**
 * Returns the payload of a job's first log entry with the program's hash added, after the fields `mode` and `status`. A payload from a
 * version before 0.2 already contains the hash and does not change.
 */
function withHash(payload: string, programHash: string): string {
  const { mode, status, ...rest } = JSON.parse(payload) as Readonly<Record<string, unknown>>;
  return JSON.stringify({ mode, status, programHash, ...rest });
}

/**
 * Adds entries to the logs of jobs. First the last entry number (`last_seq`) in the job's row grows by the number of entries. The new
 * entries get the numbers up to the new value. So concurrent writers never use a number twice. Uses primary keys.
 */
const appendEvents = compose(
  "append_job_events",
  {
    log: values({ jobId: idOf("job"), count: int4, now: timestamptz }),
    events: rows(logRowFields),
  },
  ({ log, events }) => query<{ last_seq: number }>`with changed as (
    update jobs set last_seq = last_seq + ${log.count}, updated_at = ${log.now} where id = ${log.jobId} returning last_seq
  ), logged as (
    insert into job_events (job_id, seq, at, ${logRowColumns.columns})
    select ${log.jobId}, c.last_seq - ${log.count} + e.seq, ${log.now}, ${logRowColumns.values("e")}
    from changed c, ${events.from("e")}
  )
  select last_seq from changed`,
);

/**
 * Appends entries to a job's log, and returns the last `seq`. Every writer uses this function except the job's driver (the loop that runs
 * the job's steps), which writes entries with its commits. Call `lockJob` before any other change in the same transaction.
 */
export async function appendJobEvents(
  tx: Executor,
  jobId: Id<"job">,
  events: readonly NewJobEvent[],
  nowMs: number,
): Promise<number> {
  const [row] = await appendEvents(tx, { log: { jobId, count: events.length, now: nowMs }, events: logRowsOf(events) });
  return row?.last_seq ?? 0;
}

const columns = selectList(jobEvents, namesBut(jobEvents), "e");

type LogRow = ReturnType<typeof columns.read>;
/** A row of a job's log, together with the columns of the job's row that are needed to show its entries. `jobChain` is JSON text. */
type StoredRow = RawRow<LogRow> & {
  readonly jobChain: string;
  readonly jobKey: string;
  readonly programHash: string | null;
};

/** Reads a page of a job's log. One stored row can contain several entries, so the page may begin in the middle of a row. */
const selectLog = statement<StoredRow>(
  "read_job_log",
  // With `offset 0`, PostgreSQL looks up the program by its key.
  `select ${columns.text}, to_json(j.principal_chain)::text as "jobChain", j.key_id as "jobKey",
     case when e.type = '${submittedType}' then (
       select p.program_hash from job_programs p where p.project_id = j.project_id and p.digest = j.program_digest offset 0)
     end as "programHash"
   from jobs j, job_events e
   where j.id = $1::uuid and ${filterBy("j.project_id", "$2::uuid")} and e.job_id = $1::uuid
     and e.seq >= coalesce((select b.seq from job_events b
       where b.job_id = $1::uuid and b.seq <= $3::int4 order by b.seq desc limit 1), 0)
   order by e.seq limit $4::int4`,
);

/** Returns up to `limit` entries of a job's log after `afterSeq`; none for a job of another project. */
export async function readJobLog(
  db: Executor,
  projectId: ProjectId,
  { id, afterSeq, limit }: { readonly id: Id<"job">; readonly afterSeq: number; readonly limit: number },
): Promise<JobEventRecord[]> {
  // The largest number that the column can store. Callers may ask for any unsigned number, but no log is longer than this.
  const last = Math.min(afterSeq, 2 ** 31 - 1);
  const rows = await selectLog(db, [uuidOfId(id), uuidOfId(projectId), last, limit + 1]);
  const log = rows.map((row) => {
    const { jobChain, jobKey, ...read } = columns.read(row);
    const keyId = idOfUuid("key", jobKey);
    return { ...read, jobChain: chainOfJob({ keyId, principalChain: JSON.parse(jobChain) as string[] }) };
  });
  return entriesOf(log)
    .filter(({ seq }) => seq > afterSeq)
    .slice(0, limit);
}
