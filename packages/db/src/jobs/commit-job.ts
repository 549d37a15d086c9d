import type { Id, NodeId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobEvents, jobSteps, jobs } from "../schema/jobs.ts";
import { bool, fieldsBut, fieldsOf, idOf, int4, int8, orNull, text, timestamptz, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { change, changeOrKeep, rows, values } from "../sql/parts.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { type NewJobEvent, newEventNames } from "./record.ts";

/** The columns of a job that belong to whoever drives it; written whole at every commit. */
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

/** Large and seldom changed. */
const keptFields = fieldsOf(jobs, "params", "stepArgs", "overrides", "receipt");

/** A job as its driver commits it. `params`, `stepArgs`, `overrides` and `receipt` stay as they are where they are undefined. */
export type DrivenJob = ValuesOf<typeof drivenFields> & Partial<OrUndefined<ValuesOf<typeof keptFields>>>;

type OrUndefined<Values> = { readonly [Name in keyof Values]: Values[Name] | undefined };

const stepFields = fieldsBut(jobSteps, "jobId");

/** What a step did and made, as it is written; `output` is sealed. */
export type NewJobStep = ValuesOf<typeof stepFields>;

/** The lease a driver writes under. */
export type RunLease = { readonly jobId: Id<"job">; readonly owner: NodeId; readonly leaseToken: number };

/** What a commit writes to the job's row, its log, its steps and its run task. */
export type JobChange = {
  readonly job: DrivenJob;
  readonly events: readonly NewJobEvent[];
  readonly steps: readonly NewJobStep[];
  /** `keep` goes on under the same lease; `end` removes the run task; a time gives it back, due then. */
  readonly task: "keep" | "end" | { readonly dueAtMs: number };
  /** Whether the job got on by it: leases that were lost before do not count any more. */
  readonly isProgress: boolean;
};

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

const cancelColumns = selectList(jobs, ["cancelRequestedAt", "cancelChain"], "h");

/**
 * One statement, one round trip, one commit. `job` locks the job first, then `held` its task: whoever writes to a job takes the
 * two in this order. A lease that is another's by now leaves `held` empty, and every part below it writes nothing. `changed`
 * takes the places of the new log entries from the row, so that they follow whatever others (an answer, a refusal) logged
 * meanwhile. A request to cancel that this driver has not seen keeps a task that was to end or wait: nobody else would come to
 * it. `cleared` finds a row in the commit after a lost lease alone: the task of a job that gets on is not written. Primary keys
 * serve it all.
 */
const commit = compose(
  "commit_job_run",
  {
    lease: values({ jobId: idOf("job"), token: int8, owner: idOf("node") }),
    driven: change(drivenFields),
    kept: changeOrKeep(keptFields),
    events: rows(fieldsOf(jobEvents, ...newEventNames)),
    steps: rows(stepFields),
    run: values({
      now: timestamptz,
      logged: int4,
      task: text,
      isProgress: bool,
      dueAt: timestamptz,
      seesCancel: bool,
      expectedSeq: orNull(int4),
    }),
  },
  ({ lease, driven, kept, events, steps, run }) => query<
    RawRow<Pick<RunCommit, "cancelRequestedAt" | "cancelChain">> & { last_seq: number }
  >`with job as materialized (
    select id, cancel_requested_at, cancel_chain from jobs
    where id = ${lease.jobId} and (${run.expectedSeq} is null or last_seq = ${run.expectedSeq})
    for no key update
  ), held as materialized (
    select j.id, j.cancel_requested_at, j.cancel_chain from job j join job_tasks t on t.job_id = j.id
    where t.job_id = ${lease.jobId} and t.kind = 'run' and t.subject = '' and t.lease_token = ${lease.token}
      and t.lease_owner = ${lease.owner}
    for update of t
  ), changed as (
    update jobs j set ${driven.set}, ${kept.set("j")}, updated_at = ${run.now}, last_seq = j.last_seq + ${run.logged}
    from held h where j.id = h.id
    returning j.last_seq
  ), logged as (
    insert into job_events (job_id, seq, at, ${events.columns})
    select ${lease.jobId}, c.last_seq - ${run.logged} + e.place, ${run.now}, ${events.values("e")}
    from changed c, ${events.fromOrdered("e", "place")}
  ), ended as (
    delete from job_tasks t using held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = '' and ${run.task} = 'end'
      and (${run.seesCancel} or h.cancel_requested_at is null)
  ), cleared as (
    update job_tasks t set losses = 0 from held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = '' and ${run.task} = 'keep' and ${run.isProgress}
      and t.losses > 0
  ), moved as (
    update job_tasks t set lease_owner = null, lease_until = null, attempt = 0,
      losses = case when ${run.isProgress} then 0 else t.losses end,
      due_at = case when ${run.seesCancel} or h.cancel_requested_at is null then ${run.dueAt} else ${run.now} end
    from held h
    where t.job_id = h.id and t.kind = 'run' and t.subject = ''
      and (${run.task} = 'move' or (${run.task} = 'end' and not ${run.seesCancel} and h.cancel_requested_at is not null))
  ), stepped as (
    insert into job_steps (job_id, ${steps.columns}) select ${lease.jobId}, ${steps.values("s")}
    from held h, ${steps.from("s")}
    on conflict (job_id, step_id) do update set receipt = excluded.receipt, output = excluded.output
  )
  select c.last_seq, ${cancelColumns.text} from held h, changed c`,
);

/** Writes what a commit changes of the job itself; undefined when the lease is lost, and then nothing is written. */
export async function commitJob(
  db: Executor,
  { jobId, owner, leaseToken }: RunLease,
  { job, events, steps, task, isProgress }: JobChange,
  { nowMs, seesCancel, expectedSeq }: CommitOptions,
): Promise<RunCommit | undefined> {
  const isMoved = typeof task === "object";
  const [row] = await commit(db, {
    lease: { jobId, token: leaseToken, owner },
    driven: job,
    kept: job,
    events,
    steps,
    run: {
      now: nowMs,
      logged: events.length,
      task: isMoved ? "move" : task,
      isProgress,
      dueAt: isMoved ? task.dueAtMs : nowMs,
      seesCancel,
      expectedSeq,
    },
  });
  return row && { lastSeq: row.last_seq, ...cancelOf(row) };
}

function cancelOf({ cancelRequestedAt, cancelChain }: RawRow<Pick<RunCommit, "cancelRequestedAt" | "cancelChain">>) {
  return cancelColumns.read({ cancelRequestedAt, cancelChain });
}
