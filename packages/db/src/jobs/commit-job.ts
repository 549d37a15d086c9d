import { type Id, type NodeId, uuidOfId } from "@svc/core";
import { type CallRecord, storedCall } from "../calls/repo.ts";
import type { Executor } from "../connect.ts";
import { storedReceipt } from "../documents/jobs.ts";
import { toolCalls } from "../schema/calls.ts";
import { jobEvents, jobSteps, jobs } from "../schema/jobs.ts";
import { bool, fieldsBut, fieldsOf, idOf, int4, int8, orNull, text, timestamptz, type ValuesOf } from "../sql/codec.ts";
import { compose, type OnlyWith, type PartNames, type PartValues, query } from "../sql/compose.ts";
import { filterBy } from "../sql/filter.ts";
import { flag, type RawRow, rows, selectList } from "../sql/select-list.ts";
import { logRowColumns, logRowFields, logRowsOf } from "./log.ts";
import type { NewJobEvent } from "./record.ts";
import { type JobPage, pageParts, storePage } from "./rows.ts";

/** Columns of a job that belong to its driver, the code that runs the job. Every commit writes all of them. */
const drivenFields = fieldsOf(
  jobs,
  "status",
  "generation",
  "position",
  "progress",
  "planApprovalId",
  "park",
  "used",
  "saga",
  "deadlineAt",
  "deadlineLeftMs",
  "lastError",
  "finishedAt",
);

/**
 * Columns of a job that are large and change rarely. A commit writes such a column only if the driver (the code that runs the job) sets it.
 */
const keptFields = fieldsOf(jobs, "params", "stepArgs", "overrides", "receipt");

/**
 * Columns of a job that the driver (the loop that runs one job's steps) writes when it commits progress. If `params`, `stepArgs`,
 * `overrides` or `receipt` is undefined, the stored value stays.
 */
export type JobUpdate = ValuesOf<typeof drivenFields> & Partial<WithUndefined<ValuesOf<typeof keptFields>>>;

type WithUndefined<Values> = { readonly [Name in keyof Values]: Values[Name] | undefined };

const stepFields = fieldsBut(jobSteps, "jobId");

/** The data of one step that a commit stores. `isStored`: true if the caller knows that the step already has a row. */
export type NewJobStep = ValuesOf<typeof stepFields> & { readonly isStored?: boolean };

/** The lease (time-limited right) under which a driver (the loop that runs a job's steps) writes to its job. */
export type RunLease = { readonly jobId: Id<"job">; readonly owner: NodeId; readonly leaseToken: number };

/** The writes of a commit to the job's row, its log, its steps and its run task (the task that runs the job's steps). */
export type JobChange = {
  readonly job: JobUpdate;
  readonly events: readonly NewJobEvent[];
  readonly steps: readonly NewJobStep[];
  /**
   * The commit's effect on the job's run task (the task that runs its steps). `keep`: the driver (the loop that runs the steps) continues
   * under the same lease (its time-limited right to the job). `end`: the commit deletes the task. `dueAtMs`: the commit releases the task,
   * which is due again at this time (epoch milliseconds).
   */
  readonly task: "keep" | "end" | { readonly dueAtMs: number };
  /**
   * True if the job made progress with this commit. The commit then sets the number of leases that expired during work on the job back to
   * 0.
   */
  readonly isProgress: boolean;
  /** The call that the job is about to send; undefined if it sends none. */
  readonly begunCall?: CallRecord | undefined;
  /** Finished tool calls of the job whose records are stored with this commit. Their idempotency keys are not needed after the commit. */
  readonly madeCalls?: readonly CommittedCall[] | undefined;
};

/** A finished call. `wasBegun`: true if the call's row was stored when the call began, so that only its end must be written. */
export type CommittedCall = { readonly record: CallRecord; readonly wasBegun: boolean };

/** Values that a commit of a job's progress returns: the number of the last log entry, and the requests to cancel or pause the job. */
export type RunCommit = {
  readonly lastSeq: number;
  /** True if the job's call was begun. False if there was no call, or if another call holds its idempotency key. */
  readonly hasBegunCall: boolean;
  readonly cancelRequestedAt: number | null;
  readonly cancelChain: string[] | null;
  readonly pausedAt: number | null;
  readonly pauseChain: string[] | null;
};

/** Options of a commit. */
export type CommitOptions = {
  readonly nowMs: number;
  /** True if the driver (the loop that runs one job's steps) already knows of the request to cancel the job. */
  readonly seesCancel: boolean;
  /** True if the job's driver (the loop that runs its steps) already knows of the request to pause the job. */
  readonly seesPause: boolean;
  /**
   * The number (`seq`) of the last entry that the job's log must have. If the log's last entry has a different number, the commit writes
   * nothing, as if another node had taken over the job.
   */
  readonly expectedSeq?: number | undefined;
};

/**
 * One commit of a job's progress. `lease`: the lease (time-limited right) under which a node works on the job. `change`: what to write.
 * `options`: conditions of the commit.
 */
export type JobCommit = { readonly lease: RunLease; readonly change: JobChange; readonly options: CommitOptions };

const requestNames = ["cancelRequestedAt", "cancelChain", "pausedAt", "pauseChain"] as const;
const requestColumns = selectList(jobs, requestNames, "h");

const commitFields = {
  jobId: idOf("job"),
  token: int8,
  owner: idOf("node"),
  ...drivenFields,
  ...keptFields,
  params: orNull(keptFields.params),
  stepArgs: orNull(keptFields.stepArgs),
  now: timestamptz,
  logged: int4,
  task: text,
  isProgress: bool,
  dueAt: timestamptz,
  seesCancel: bool,
  seesPause: bool,
  expectedSeq: orNull(int4),
};

/** Columns of a call's row in the ledger (the record of all tool calls) that are written when the call ends. */
const callEndFields = fieldsOf(
  toolCalls,
  "id",
  "jobId",
  "outcome",
  "failure",
  "message",
  "sealedMessage",
  "providerStatus",
  "result",
  "isTruncated",
  "durationMs",
  "providerMs",
);
const callEndNames = keysOf(callEndFields).filter((name) => name !== "id" && name !== "jobId");

const commitParts = {
  commits: rows(commitFields),
  events: rows({ ...fieldsOf(jobEvents, "jobId"), ...logRowFields }),
  steps: rows(fieldsBut(jobSteps)),
  storedSteps: rows(fieldsBut(jobSteps)),
  calls: rows(fieldsBut(toolCalls)),
  ends: rows(callEndFields),
  isLeft: flag,
  isKept: flag,
};

/** Commits the progress of any number of jobs in one statement. Writes nothing for a job that another node has taken over. */
const commit = compose("commit_job_runs", commitParts, (names, onlyWith) => commitQuery(names, onlyWith, ""), {
  lone_write_end: { parts: ["commits", "events", "storedSteps", "ends", "isLeft"], isLone: true },
  lone_read_end: { parts: ["commits", "events", "storedSteps", "calls", "isLeft"], isLone: true },
  lone_first_call: { parts: ["commits", "events", "steps", "calls", "isKept"], isLone: true },
  lone_next_read: { parts: ["commits", "events", "steps", "storedSteps", "calls", "isKept"], isLone: true },
  lone_next_write: { parts: ["commits", "events", "steps", "storedSteps", "calls", "ends", "isKept"], isLone: true },
  write_ends: { parts: ["commits", "events", "storedSteps", "ends", "isLeft"] },
  read_ends: { parts: ["commits", "events", "storedSteps", "calls", "isLeft"] },
});

/**
 * Commits a change of one job together with a page of rows (data that the job processes), in one statement. If another node has taken over
 * the job (the lease is lost), no row is stored.
 */
const commitPage = compose("commit_job_page", { ...commitParts, ...pageParts }, (names, onlyWith) => {
  const { rows: stored, positions } = storePage(names, { job: "c.id", from: "changed c, " });
  return commitQuery(names, onlyWith, `, stored as (${stored}), placed as (${positions})`);
});

function commitQuery(
  { commits, events, steps, storedSteps, calls, ends }: PartNames<typeof commitParts>,
  onlyWith: OnlyWith<typeof commitParts>,
  others: string,
) {
  // `job` locks the jobs in the order of their ids, and `held` then locks their tasks. Every writer locks in this order, so deadlocks
  // cannot occur. `changed` numbers the new log entries, so that they follow entries that were logged meanwhile. If the driver has not
  // noticed a request to cancel or to pause, the task becomes due, so that the request is handled. `cleared` writes to a task only after a
  // lost lease. Settled calls keep their idempotency keys, because removing a key would change an indexed column.
  return query<
    RawRow<Pick<RunCommit, (typeof requestNames)[number]>> & { id: string; last_seq: number; has_begun: boolean }
  >`with job as materialized (
    select j.id, j.cancel_requested_at, j.cancel_chain, j.paused_at, j.pause_chain, w.* from ${commits.from("w")} join jobs j on j.id = w.job_id
    where w.expected_seq is null or j.last_seq = w.expected_seq
    order by j.id for no key update of j
  ), held as materialized (
    select j.* from job j join job_tasks t on t.job_id = j.id
    where t.kind = 'run' and t.subject = '' and t.lease_token = j.token and t.lease_owner = j.owner
    order by j.id for update of t
  ), changed as (
    update jobs j set ${commits.set("h", keysOf(drivenFields))}, ${commits.setOrKeep("h", keysOf(keptFields), "j")},
      updated_at = h.now, last_seq = j.last_seq + h.logged,
      paused_at = case when h.finished_at is null then j.paused_at end
    from held h where j.id = h.id
    returning j.id, j.last_seq, j.last_seq - h.logged as seq_before, h.now
  )${onlyWith.events`, logged as (
    insert into job_events (job_id, seq, at, ${logRowColumns.columns})
    select c.id, c.seq_before + e.seq, c.now, ${logRowColumns.values("e")}
    from changed c join ${events.from("e")} on e.job_id = c.id
  )`}${onlyWith.isLeft`, ended as (
    delete from job_tasks t using held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = '' and h.task = 'end'
      and (h.sees_cancel or h.cancel_requested_at is null)
  ), moved as (
    update job_tasks t set lease_owner = null, lease_until = null, attempt = 0,
      losses = case when h.is_progress then 0 else t.losses end,
      due_at = case when (h.sees_cancel or h.cancel_requested_at is null) and (h.sees_pause or h.paused_at is null)
        then h.due_at else h.now end
    from held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = ''
      and (h.task = 'move' or (h.task = 'end' and not h.sees_cancel and h.cancel_requested_at is not null))
  )`}${onlyWith.isKept`, cleared as (
    update job_tasks t set losses = 0 from held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = '' and h.task = 'keep' and h.is_progress and t.losses > 0
  )`}${onlyWith.steps`, stepped as (
    insert into job_steps (${steps.columns}) select ${steps.values("s")}
    from held h join ${steps.from("s")} on s.job_id = h.id
    on conflict (job_id, step_id) do update set receipt = excluded.receipt, output = excluded.output
  )`}${onlyWith.storedSteps`, stepped_on as (
    update job_steps t set ${storedSteps.set("s", ["receipt", "output"])}
    from held h join ${storedSteps.from("s")} on s.job_id = h.id where t.job_id = s.job_id and t.step_id = s.step_id
  )`}${onlyWith.calls`, called as (
    insert into tool_calls (${calls.columns}) select ${calls.values("n")} from held h join ${calls.from("n")} on n.job_id = h.id
    on conflict do nothing returning job_id, outcome
  )`}${onlyWith.ends`, settled as (
    update tool_calls t set ${ends.set("e", callEndNames)}
    from held h join ${ends.from("e")} on e.job_id = h.id
    where t.id = e.id and ${filterBy("t.outcome", "'running'")}
  )`}${others}
  select c.id, c.last_seq, ${onlyWith.calls`c.id in (select job_id from called where outcome = 'running') or`} false as has_begun, ${requestColumns.text}
  from held h join changed c on c.id = h.id`;
}

/**
 * Commits changes of different jobs. Returns one result for each job, in order. The result is undefined if the job's lease is lost (another
 * node may have taken over the job); nothing is then written for this job.
 */
export async function commitJobs(db: Executor, all: readonly JobCommit[]): Promise<(RunCommit | undefined)[]> {
  return resultsOf(await commit(db, valuesOf(all)), all);
}

/**
 * Commits a change of one job together with new rows of the job. Returns undefined, with nothing written, if another node has taken over
 * the job.
 */
export async function commitJobPage(
  db: Executor,
  one: JobCommit,
  { rows: stored, run }: JobPage,
): Promise<RunCommit | undefined> {
  return resultsOf(await commitPage(db, { ...valuesOf([one]), of: run, rows: stored }), [one])[0];
}

function valuesOf(all: readonly JobCommit[]): PartValues<typeof commitParts> {
  return {
    commits: all.map(rowOf),
    events: all.flatMap(({ lease: { jobId }, change: { events } }) =>
      logRowsOf(events).map((row) => ({ jobId, ...row })),
    ),
    steps: stepsOf(all, false),
    storedSteps: stepsOf(all, true),
    calls: all.flatMap(({ change }) => newCalls(change).map(storedCall)),
    ends: all.flatMap(({ change: { madeCalls = [] } }) =>
      madeCalls.flatMap(({ record, wasBegun }) => (wasBegun ? [storedCall(record)] : [])),
    ),
    isLeft: all.some(({ change }) => change.task !== "keep"),
    isKept: all.some(({ change }) => change.task === "keep"),
  };
}

function resultsOf(found: Awaited<ReturnType<typeof commit>>, all: readonly JobCommit[]): (RunCommit | undefined)[] {
  const byId = new Map(found.map((row) => [row.id, row]));
  return all.map(({ lease }) => {
    const row = byId.get(uuidOfId(lease.jobId));
    return row && { lastSeq: row.last_seq, hasBegunCall: row.has_begun, ...requestsOf(row) };
  });
}

function stepsOf(all: readonly JobCommit[], areStored: boolean) {
  return all.flatMap(({ lease: { jobId }, change: { steps } }) => {
    return steps.filter(({ isStored = false }) => isStored === areStored).map((step) => ({ jobId, ...step }));
  });
}

function newCalls({ begunCall, madeCalls = [] }: JobChange): CallRecord[] {
  const made = madeCalls.flatMap(({ record, wasBegun }) => (wasBegun ? [] : [record]));
  return begunCall === undefined ? made : [...made, begunCall];
}

function rowOf({ lease: { jobId, owner, leaseToken: token }, change, options }: JobCommit) {
  const { job, events, task, isProgress } = change;
  const { params, stepArgs, overrides, receipt } = job;
  const { nowMs: now, seesCancel, seesPause, expectedSeq } = options;
  const isMoved = typeof task === "object";
  return {
    ...job,
    ...{ params, stepArgs, overrides, receipt: receipt && storedReceipt(receipt) },
    ...{
      jobId,
      token,
      owner,
      now,
      logged: events.length,
      isProgress,
      seesCancel,
      seesPause,
      expectedSeq,
    },
    task: isMoved ? "move" : task,
    dueAt: isMoved ? task.dueAtMs : now,
  };
}

function keysOf<Shape extends object>(shape: Shape): (keyof Shape & string)[] {
  return Object.keys(shape) as (keyof Shape & string)[];
}

function requestsOf({
  cancelRequestedAt,
  cancelChain,
  pausedAt,
  pauseChain,
}: RawRow<Pick<RunCommit, (typeof requestNames)[number]>>) {
  return requestColumns.read({ cancelRequestedAt, cancelChain, pausedAt, pauseChain });
}
