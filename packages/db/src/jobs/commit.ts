import { type Id, type NodeId, uuidOfId } from "@svc/core";
import { arrayLiteral, bytesArrayLiteral } from "../array-literal.ts";
import { type Executor, withTransaction } from "../connect.ts";
import type { jobSetRows } from "../schema/jobs.ts";
import { statement } from "../statement.ts";
import type { JobRecord, JobStepRecord, NewJobEvent, NewJobTask } from "./record.ts";
import { putJobTasks } from "./tasks.ts";

/** The columns of a job that belong to whoever drives it; written whole at every commit. */
export type DrivenJob = Pick<
  JobRecord,
  | "status"
  | "generation"
  | "position"
  | "progress"
  | "planApprovalId"
  | "park"
  | "used"
  | "saga"
  | "deadlineAt"
  | "deadlineLeftMs"
  | "lastError"
  | "finishedAt"
> &
  // Large and seldom changed: undefined leaves them as they are.
  Partial<Pick<JobRecord, "params" | "stepArgs">> & { readonly receipt?: JobRecord["receipt"] | undefined };

/** A row that a step fetched; `data` is sealed. */
export type NewJobRow = { readonly rowNumber: number; readonly data: Uint8Array };

/** A row's place and state in a set. One that is there already takes the new state. */
export type JobSetRowChange = Pick<
  typeof jobSetRows.$inferSelect,
  "setId" | "ordinal" | "rowNumber" | "state" | "doneCalls" | "errorCode"
> & { readonly outputs: Uint8Array | null };

/** How one call may be undone. */
export type NewJobUndoEntry = {
  readonly entry: number;
  readonly stepId: string;
  readonly ordinal: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: Uint8Array;
};

/** What becomes of an undo entry. */
export type JobUndoChange = { readonly entry: number; readonly state: "done" | "failed" };

/** One step forward of a job: everything in it is committed together, or, when the lease is lost, nothing. */
export type RunChange = {
  readonly job: DrivenJob;
  readonly events: readonly NewJobEvent[];
  readonly steps: readonly JobStepRecord[];
  readonly rows: readonly NewJobRow[];
  readonly setRows: readonly JobSetRowChange[];
  /** Sets that are emptied first, before a step runs again. */
  readonly clearedSets: readonly string[];
  readonly undoEntries: readonly NewJobUndoEntry[];
  readonly undoChanges: readonly JobUndoChange[];
  /** `keep` goes on under the same lease; `end` removes the run task; a time gives it back, due then. */
  readonly task: "keep" | "end" | { readonly dueAtMs: number };
  /** Tasks of other kinds or jobs that become due with it. */
  readonly tasks: readonly NewJobTask[];
  /** What else is written in the same transaction, after the lease was found to hold. */
  readonly also: ((tx: Executor) => Promise<void>) | undefined;
};

/** The lease a driver writes under. */
export type RunLease = { readonly jobId: Id<"job">; readonly owner: NodeId; readonly leaseToken: number };

/** What a commit found: the job's last seq, and whether it is to be cancelled. */
export type RunCommit = {
  readonly lastSeq: number;
  readonly cancelRequestedAt: number | null;
  readonly cancelChain: string[] | null;
};

/** How a commit is made. */
export type CommitOptions = {
  readonly nowMs: number;
  /** Whether the driver knows that the job is to be cancelled. */
  readonly seesCancel: boolean;
  /** The last seq of the log must be this, else nothing is written, as when the lease is lost. */
  readonly expectedSeq?: number | undefined;
};

/**
 * One statement, one round trip, one commit. `job` locks the job first, then `held` its task: whoever writes to a job takes the
 * two in this order. A lease that is another's by now leaves `held` empty, and every part below it writes nothing. `changed`
 * takes the places of the new log entries from the row, so that they follow whatever others (an answer, a refusal) logged
 * meanwhile. A request to cancel that this driver has not seen ($27) keeps a task that was to end or wait: nobody else would
 * come to it. Primary keys serve it all.
 */
const commit = statement<{ last_seq: number; cancel_ms: number | null; cancel_chain: string | null }>(
  "commit_job_run",
  `with job as materialized (
    select id, cancel_requested_at, cancel_chain from jobs where id = $1::uuid and ($32::int4 is null or last_seq = $32::int4)
    for no key update
  ), held as materialized (
    select j.id, j.cancel_requested_at, j.cancel_chain from job j join job_tasks t on t.job_id = j.id
    where t.job_id = $1::uuid and t.kind = 'run' and t.subject = '' and t.lease_token = $2::int8 and t.lease_owner = $3::uuid
    for update of t
  ), changed as (
    update jobs j set status = $4::text, generation = $5::int4, position = $6::int4, progress = $7::bytea,
      plan_approval_id = $8::text, park = $9::jsonb, used = $10::jsonb, saga = $11::jsonb, deadline_at = $12::timestamptz,
      deadline_left_ms = $13::int8, last_error = $14::text, finished_at = $15::timestamptz,
      params = coalesce($16::jsonb, j.params), step_args = coalesce($17::jsonb, j.step_args),
      receipt = coalesce($18::jsonb, j.receipt), updated_at = $19::timestamptz, last_seq = j.last_seq + $20::int4
    from held h where j.id = h.id
    returning j.last_seq
  ), logged as (
    insert into job_events (job_id, seq, type, step_id, at, payload, principal_chain)
    select $1::uuid, c.last_seq - $20::int4 + e.place, e.type, e.step_id, $19::timestamptz, e.payload, e.chain::text[]
    from changed c, unnest($21::text[], $22::text[], $23::text[], $24::text[]) with ordinality e(type, step_id, payload, chain, place)
  ), ended as (
    delete from job_tasks t using held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = '' and $25::text = 'end'
      and ($27::bool or h.cancel_requested_at is null)
  ), moved as (
    update job_tasks t set lease_owner = null, lease_until = null, attempt = 0,
      due_at = case when $27::bool or h.cancel_requested_at is null then $26::timestamptz else $19::timestamptz end
    from held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = ''
      and ($25::text = 'move' or ($25::text = 'end' and not $27::bool and h.cancel_requested_at is not null))
  ), stepped as (
    insert into job_steps (job_id, step_id, ordinal, receipt, output)
    select $1::uuid, s.step_id, s.ordinal, s.receipt, s.output
    from held h, unnest($28::text[], $29::int4[], $30::jsonb[], $31::bytea[]) s(step_id, ordinal, receipt, output)
    on conflict (job_id, step_id) do update set receipt = excluded.receipt, output = excluded.output
  )
  select c.last_seq, (extract(epoch from h.cancel_requested_at) * 1000)::float8 as cancel_ms,
    to_json(h.cancel_chain)::text as cancel_chain
  from held h, changed c`,
);

const clearSets = statement<{ set_id: string }>(
  "clear_job_sets",
  "delete from job_set_rows where job_id = $1::uuid and set_id = any($2::text[])",
);

const writeRows = statement<{ row_number: number }>(
  "write_job_rows",
  `with stored as (
    insert into job_rows (job_id, row_number, data)
    select $1::uuid, r.row_number, r.data from unnest($2::int4[], $3::bytea[]) r(row_number, data)
  )
  insert into job_set_rows (job_id, set_id, ordinal, row_number, state, done_calls, outputs, error_code)
  select $1::uuid, s.* from unnest($4::text[], $5::int4[], $6::int4[], $7::text[], $8::int4[], $9::bytea[], $10::text[]) s
  on conflict (job_id, set_id, ordinal) do update set row_number = excluded.row_number, state = excluded.state,
    done_calls = excluded.done_calls, outputs = excluded.outputs, error_code = excluded.error_code`,
);

const writeUndo = statement<{ entry: number }>(
  "write_job_undo_entries",
  `with changed as (
    update job_undo_entries u set state = i.state from unnest($8::int4[], $9::text[]) i(entry, state)
    where u.job_id = $1::uuid and u.entry = i.entry
  )
  insert into job_undo_entries (job_id, entry, step_id, ordinal, tool_slug, entity_id, args, state)
  select $1::uuid, u.*, 'armed' from unnest($2::int4[], $3::text[], $4::int4[], $5::text[], $6::text[], $7::bytea[]) u`,
);

/**
 * Moves a job on under its driver's lease; undefined when the lease is lost, and then nothing is written. A change that touches
 * no rows, entries or other tables is one statement; any other is one transaction.
 */
export function commitRun(
  db: Executor,
  lease: RunLease,
  change: RunChange,
  options: CommitOptions,
): Promise<RunCommit | undefined> {
  const others = otherWrites(lease.jobId, change);
  if (others.length === 0) return commitJob(db, lease, change, options);
  return withTransaction(db, async (tx) => {
    // Sent together with what follows it: only when the lease is lost is more undone than done.
    const committed = await commitJob(tx, lease, change, options);
    if (committed === undefined) return undefined;
    for (const write of others) await write(tx);
    return committed;
  });
}

async function commitJob(
  db: Executor,
  { jobId, owner, leaseToken }: RunLease,
  { job, events, steps, task }: RunChange,
  { nowMs, seesCancel, expectedSeq }: CommitOptions,
): Promise<RunCommit | undefined> {
  const [row] = await commit(db, [
    uuidOfId(jobId),
    leaseToken,
    uuidOfId(owner),
    job.status,
    job.generation,
    job.position,
    job.progress,
    job.planApprovalId,
    jsonOrNull(job.park),
    JSON.stringify(job.used),
    JSON.stringify(job.saga),
    timeOrNull(job.deadlineAt),
    job.deadlineLeftMs,
    job.lastError,
    timeOrNull(job.finishedAt),
    jsonOrNull(job.params),
    jsonOrNull(job.stepArgs),
    jsonOrNull(job.receipt),
    time(nowMs),
    events.length,
    arrayLiteral(events.map(({ type }) => type)),
    arrayLiteral(events.map(({ stepId }) => stepId)),
    arrayLiteral(events.map(({ payload }) => payload)),
    arrayLiteral(events.map(({ principalChain }) => arrayLiteral(principalChain))),
    typeof task === "string" ? task : "move",
    time(typeof task === "string" ? nowMs : task.dueAtMs),
    seesCancel,
    arrayLiteral(steps.map(({ stepId }) => stepId)),
    arrayLiteral(steps.map(({ ordinal }) => String(ordinal))),
    arrayLiteral(steps.map(({ receipt }) => JSON.stringify(receipt))),
    bytesArrayLiteral(steps.map(({ output }) => output)),
    expectedSeq ?? null,
  ]);
  return (
    row && {
      lastSeq: row.last_seq,
      cancelRequestedAt: row.cancel_ms,
      cancelChain: row.cancel_chain === null ? null : (JSON.parse(row.cancel_chain) as string[]),
    }
  );
}

/** What a change writes beyond the job, its log, steps and task. */
function otherWrites(jobId: Id<"job">, change: RunChange): ((tx: Executor) => Promise<unknown>)[] {
  const { rows, setRows, clearedSets, undoEntries, undoChanges, tasks, also } = change;
  const writes: ((tx: Executor) => Promise<unknown>)[] = [];
  if (clearedSets.length > 0) writes.push((tx) => clearSets(tx, [uuidOfId(jobId), arrayLiteral([...clearedSets])]));
  if (rows.length > 0 || setRows.length > 0) writes.push((tx) => putRows(tx, jobId, rows, setRows));
  if (undoEntries.length > 0 || undoChanges.length > 0) {
    writes.push((tx) => putUndo(tx, jobId, undoEntries, undoChanges));
  }
  if (tasks.length > 0) writes.push((tx) => putJobTasks(tx, tasks));
  if (also !== undefined) writes.push(also);
  return writes;
}

function putRows(tx: Executor, jobId: Id<"job">, rows: readonly NewJobRow[], setRows: readonly JobSetRowChange[]) {
  return writeRows(tx, [
    uuidOfId(jobId),
    arrayLiteral(rows.map(({ rowNumber }) => String(rowNumber))),
    bytesArrayLiteral(rows.map(({ data }) => data)),
    arrayLiteral(setRows.map(({ setId }) => setId)),
    arrayLiteral(setRows.map(({ ordinal }) => String(ordinal))),
    arrayLiteral(setRows.map(({ rowNumber }) => String(rowNumber))),
    arrayLiteral(setRows.map(({ state }) => state)),
    arrayLiteral(setRows.map(({ doneCalls }) => String(doneCalls))),
    bytesArrayLiteral(setRows.map(({ outputs }) => outputs)),
    arrayLiteral(setRows.map(({ errorCode }) => errorCode)),
  ]);
}

function putUndo(
  tx: Executor,
  jobId: Id<"job">,
  entries: readonly NewJobUndoEntry[],
  changes: readonly JobUndoChange[],
) {
  return writeUndo(tx, [
    uuidOfId(jobId),
    arrayLiteral(entries.map(({ entry }) => String(entry))),
    arrayLiteral(entries.map(({ stepId }) => stepId)),
    arrayLiteral(entries.map(({ ordinal }) => String(ordinal))),
    arrayLiteral(entries.map(({ toolSlug }) => toolSlug)),
    arrayLiteral(entries.map(({ entityId }) => entityId)),
    bytesArrayLiteral(entries.map(({ args }) => args)),
    arrayLiteral(changes.map(({ entry }) => String(entry))),
    arrayLiteral(changes.map(({ state }) => state)),
  ]);
}

/** RFC 3339 text of a time. */
function time(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : time(ms);
}

function jsonOrNull(document: object | null | undefined): string | null {
  return document === null || document === undefined ? null : JSON.stringify(document);
}
