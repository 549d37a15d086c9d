import { type Id, isoTime, type KeyId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type ReceiptDocument, wholeReceipt } from "../documents/jobs.ts";
import { jobAttempts, jobs } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

const names = namesBut(jobAttempts, "idempotencyKey", "contentDigest");

/** One of the earlier attempts at a job that was retried. `receipt`: the report of this attempt. */
export type JobAttemptRecord = Omit<AttemptRow, "receipt"> & { readonly receipt: ReceiptDocument };

type AttemptRow = Row<typeof jobAttempts, (typeof names)[number]>;

const columns = selectList(jobAttempts, names, "a");
const estimates = selectList(jobs, ["estimate"], "j");

/** Lists the earlier attempts of jobs, each with the estimate of its job. Uses the primary keys of the tables job_attempts and jobs. */
const selectAttempts = statement<RawRow<AttemptRow & Row<typeof jobs, "estimate">>>(
  "list_job_attempts",
  `select ${columns.text}, (select ${estimates.text} from jobs j where j.id = a.job_id) from job_attempts a
   where a.job_id = any($1::uuid[]) order by a.job_id, a.attempt`,
);

/**
 * Finds the attempt of a job that was requested with an idempotency key. Reads all attempts of the job by the primary key. They need no
 * index with the idempotency key, because a job has few attempts.
 */
const selectKeyed = statement<{ digest: Buffer }>(
  "find_keyed_job_attempt",
  "select content_digest as digest from job_attempts where job_id = $1::uuid and idempotency_key = $2::text",
);

/**
 * Starts another attempt of an ended job and stores the previous attempt. Finds the job by its primary key. Changes nothing if the job has
 * not ended or its receipt (the report of the finished job) is not stored yet.
 */
const beginAttempt = statement<{ attempt: number }>(
  "begin_job_attempt",
  `with ended as (
     insert into job_attempts (job_id, attempt, status, last_error, receipt, finished_at, retried_at, retry_key_id, idempotency_key, content_digest)
     select id, attempt, status, last_error, receipt, finished_at, $2::timestamptz, $3::uuid, $4::text, $5::bytea
     from jobs where id = $1::uuid and finished_at is not null and receipt is not null
     returning job_id
   )
   update jobs j set attempt = j.attempt + 1, attempt_key_id = $3::uuid, receipt = null, finished_at = null,
     cancel_requested_at = null, cancel_chain = null, paused_at = null, pause_chain = null, loop_holds = 0,
     restored_from = case when $6::bool then null else j.restored_from end
   from ended e where j.id = e.job_id returning j.attempt`,
);

/** The caller that starts another attempt at a job, and the idempotency key of this caller's request. */
export type NewJobAttempt = {
  readonly jobId: Id<"job">;
  readonly keyId: KeyId;
  readonly nowMs: number;
  readonly idempotencyKey: string | undefined;
  /** SHA-256 of the request for which the idempotency key is valid. A request with the same key and different content is refused. */
  readonly contentDigest: Buffer;
  /**
   * True if the new attempt sends again the writes whose outcome is unknown. Some are unknown because the database was restored from a
   * backup.
   */
  readonly resendsUnknown: boolean;
};

/**
 * Stores the result of a job's ended attempt, and prepares the job's row for the next attempt: removes the receipt (report), the end time,
 * and requests to cancel or pause. The caller must have locked the row, and stores the rest of the next attempt in the same transaction.
 */
export async function beginJobAttempt(tx: Executor, attempt: NewJobAttempt): Promise<void> {
  const { jobId, keyId, nowMs, idempotencyKey, contentDigest } = attempt;
  const [row] = await beginAttempt(tx, [
    uuidOfId(jobId),
    isoTime(nowMs),
    uuidOfId(keyId),
    idempotencyKey ?? null,
    contentDigest,
    attempt.resendsUnknown,
  ]);
  if (row === undefined) throw new Error(`${jobId} has not ended, and cannot be attempted again`);
}

/**
 * Returns the content digest of the retry that a caller requested under this idempotency key; undefined if no retry of the job has this
 * key.
 */
export async function findKeyedJobAttempt(tx: Executor, jobId: Id<"job">, key: string): Promise<Buffer | undefined> {
  const [row] = await selectKeyed(tx, [uuidOfId(jobId), key]);
  return row?.digest;
}

/** Returns the earlier attempts of each job, oldest first. The current attempt is not included. */
export async function listJobAttempts(
  db: Executor,
  jobIds: readonly Id<"job">[],
): Promise<Map<Id<"job">, JobAttemptRecord[]>> {
  if (jobIds.length === 0) return new Map();
  const rows = await selectAttempts(db, [arrayLiteral(jobIds.map(uuidOfId))]);
  return Map.groupBy(
    rows.map((row): JobAttemptRecord => {
      const { estimate, ...attempt } = columns.read(estimates.read(row));
      return { ...attempt, receipt: wholeReceipt(attempt.receipt, estimate) };
    }),
    ({ jobId }) => jobId,
  );
}
