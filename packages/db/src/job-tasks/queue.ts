import { type Id, isoTime, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobTasks } from "../schema/jobs.ts";
import type { JobTaskKind } from "../schema/words.ts";
import { type Row, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, selectList, values } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import {
  type FirstLease,
  isHeld,
  type JobTaskLease,
  leaseColumns,
  leasedTaskRow,
  leasedTaskRows,
  leaseRows,
  type NewJobTask,
} from "./task.ts";

/**
 * A task of a job that this node may work on for a limited time. `attempt`: how often a node has taken it. `losses`: how often this time
 * expired before the node ended the task.
 */
export type ClaimedJobTask = Readonly<
  Row<typeof jobTasks, "jobId" | "kind" | "subject" | "projectId" | "leaseToken" | "attempt" | "losses" | "dueAt">
> & {
  /** Position of the task among all due tasks of its project, from 1. Tasks that this claim could not take are counted, too. */
  readonly place: number;
};

/** Options of `claimJobTasks`. */
type JobClaimRequest = {
  readonly owner: NodeId;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  /** Maximum number of due tasks that one claim takes for this node. */
  readonly limit: number;
  /** Maximum tasks of one project that one claim returns. */
  readonly share: number;
  /**
   * Number of further due tasks of each project that a claim reads, so that it can replace tasks that another transaction has locked.
   * Default 0.
   */
  readonly spare?: number;
  /** Projects that get no tasks in this claim, because their jobs already use the largest part of this node that one project may use. */
  readonly fullProjects: ReadonlySet<ProjectId>;
};

/**
 * Number of due tasks of jobs that one claim looks at, as a multiple of the number of tasks that it may take. It looks at more tasks than
 * it takes, so that every project gets its share.
 */
const windowFactor = 20;

const claimed = selectList(
  jobTasks,
  ["jobId", "kind", "subject", "projectId", "leaseToken", "attempt", "losses", "dueAt"],
  "t",
);

/**
 * Gives due tasks of jobs to this node for a limited time, oldest first. Every project gets its first task before any project gets a
 * second.
 */
const claimTasks = statement<RawRow<ClaimedJobTask> & { readonly place: number }>(
  "claim_job_tasks",
  // A task whose lease expired is taken like a free task, and counts as lost. Writes of the earlier node are refused because of their
  // token. Nodes never wait for each other. The update changes no index, because lease columns are in none. A stopped process may still
  // have locked tasks of a project. So the statement looks at $8 further tasks of the project.
  `with due as materialized (
    select job_id, kind, subject, project_id, due_at from job_tasks
    where due_at <= $1::timestamptz and (lease_until is null or lease_until <= $1::timestamptz)
      and project_id <> all($2::uuid[])
    order by due_at, project_id limit $3::int4
  ), ranked as materialized (
    select *, row_number() over (partition by project_id order by due_at, job_id) as place from due
  ), locked as materialized (
    select t.job_id, t.kind, t.subject, r.project_id, r.place from ranked r
    join job_tasks t on t.job_id = r.job_id and t.kind = r.kind and t.subject = r.subject
    where r.place <= $4::int4 + $8::int4 and t.due_at <= $1::timestamptz
      and (t.lease_until is null or t.lease_until <= $1::timestamptz)
    order by r.place, r.due_at, r.job_id limit $5::int4
    for update of t skip locked
  ), picked as materialized (
    select job_id, kind, subject, place, row_number() over (partition by project_id order by place) as turn from locked
  )
  update job_tasks t set lease_owner = $6::uuid, lease_token = t.lease_token + 1, lease_until = $7::timestamptz,
    attempt = t.attempt + 1, losses = t.losses + (t.lease_until is not null)::int4
  from picked p where p.turn <= $4::int4 and t.job_id = p.job_id and t.kind = p.kind and t.subject = p.subject
  returning ${claimed.text}, p.place::int4 as place`,
);

/** Claims due tasks for one node, and returns them. For a limited time, other nodes do not work on these tasks. */
export async function claimJobTasks(db: Executor, request: JobClaimRequest): Promise<ClaimedJobTask[]> {
  const rows = await claimTasks(db, [
    isoTime(request.nowMs),
    arrayLiteral([...request.fullProjects].map(uuidOfId)),
    request.limit * windowFactor,
    request.share,
    request.limit,
    uuidOfId(request.owner),
    isoTime(request.leaseUntilMs),
    request.spare ?? 0,
  ]);
  return rows.map(claimed.read);
}

/**
 * Deletes tasks of a job by kind and subject (the text that says what the task is for, such as an ask's id). Only the job and the kind
 * limit the scan of the primary key of job_tasks. PostgreSQL compares the subject in each row that it finds.
 */
const deleteTasks = statement<{ job_id: string }>(
  "delete_job_tasks",
  `delete from job_tasks
   where job_id = $1::uuid and kind = any($2::text[]) and (subject = $3::text or subject like $3::text || '/%')`,
);

/**
 * Deletes those tasks of a job that have one of these kinds and the subject `subject`, or a subject that begins with `<subject>/`. Nodes
 * that hold such tasks lose their leases (their time-limited right to the tasks).
 */
export async function deleteJobTasks(
  tx: Executor,
  { jobId, kinds, subject }: { jobId: Id<"job">; kinds: readonly JobTaskKind[]; subject: string },
): Promise<void> {
  await deleteTasks(tx, [uuidOfId(jobId), arrayLiteral([...kinds]), subject]);
}

/** Deletes a finished task, if the node still has its lease. Finds the task by the primary key of job_tasks. */
const endTask = statement<{ job_id: string }>(
  "end_job_task",
  `delete from job_tasks where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   returning job_id`,
);

/** Deletes a finished task. Returns false if the node has lost its lease (time-limited right) on the task. */
export async function endJobTask(db: Executor, lease: JobTaskLease): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await endTask(db, [uuidOfId(jobId), kind, subject, leaseToken])).length > 0;
}

/** Locks a task of a job. Finds it by its primary key, and only if the lease (a node's time-limited right to the task) has not changed. */
const holdTask = statement<{ job_id: string }>(
  "hold_job_task",
  `select job_id from job_tasks where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   for update`,
);

/**
 * Locks a task for the rest of the transaction. Returns false if the node has lost its lease (time-limited right) on the task. Call
 * `lockJob` first, because all transactions lock the job before its tasks.
 */
export async function holdJobTask(tx: Executor, lease: JobTaskLease): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await holdTask(tx, [uuidOfId(jobId), kind, subject, leaseToken])).length > 0;
}

/** Sets a new due time of a job's task, and gives up the node's lease (time-limited right) on it. Finds the task by its primary key. */
const moveTask = statement<{ job_id: string }>(
  "move_job_task",
  `update job_tasks set due_at = $5::timestamptz, lease_owner = null, lease_until = null
   where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   returning job_id`,
);

/**
 * Releases a task, so that any node may take it when it is due again at `dueAtMs`. The task keeps its number of attempts. Returns false if
 * the node has lost its lease (time-limited right) on the task.
 */
export async function moveJobTask(db: Executor, lease: JobTaskLease, dueAtMs: number): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await moveTask(db, [uuidOfId(jobId), kind, subject, leaseToken, isoTime(dueAtMs)])).length > 0;
}

/**
 * Inserts tasks. If a task already exists, it gets the earlier of the two due times, and keeps its lease (a node's time-limited right to
 * work on it).
 */
const putTasks = compose(
  "put_job_tasks",
  { tasks: leasedTaskRows },
  ({ tasks }) => query`${tasks.insertInto(jobTasks)}
    on conflict (job_id, kind, subject) do update set due_at = least(job_tasks.due_at, excluded.due_at)`,
);

/**
 * Adds tasks of jobs to the queue. With `lease`, one node has the right to them from the start. A task that already exists keeps its lease,
 * and gets the earlier of the two due times.
 */
export async function putJobTasks(db: Executor, tasks: readonly NewJobTask[], lease?: FirstLease): Promise<void> {
  if (tasks.length > 0) await putTasks(db, { tasks: tasks.map((task) => leasedTaskRow(task, lease)) });
}

/**
 * Releases many leases (time in which only one node may work on a task). Finds the tasks by the primary key of the table job_tasks. Skips
 * locked tasks and never waits for a lock, so it cannot cause a deadlock.
 */
const releaseLeases = compose(
  "release_job_leases",
  { leases: leaseRows, task: values({ dueAtMs: timestamptz }) },
  ({ leases, task }) => query<RawRow<JobTaskLease>>`
    with held as materialized (
      select t.job_id, t.kind, t.subject from ${leases.from("i")} join job_tasks t on ${isHeld} for update of t skip locked
    )
    update job_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, ${task.dueAtMs})
    from held h where t.job_id = h.job_id and t.kind = h.kind and t.subject = h.subject
    returning ${leaseColumns.text}`,
);

/**
 * Releases one lease (a node's time-limited claim on a task). The statement may wait for the lock of the task's row, because it holds no
 * other lock. Uses the primary key.
 */
const releaseLease = compose(
  "release_job_lease",
  { leases: leaseRows, task: values({ dueAtMs: timestamptz }) },
  ({ leases, task }) => query`
    update job_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, ${task.dueAtMs})
    from ${leases.from("i")} where ${isHeld}`,
);

/**
 * Releases leases (this node's time-limited rights to tasks); call it outside of a transaction. The tasks are due again at `dueAtMs`, or at
 * their stored due time if that is later. Leases that the node has lost are ignored. Tasks that are locked at the moment are released one
 * by one afterwards.
 */
export async function releaseJobTasks(db: Executor, leases: readonly JobTaskLease[], dueAtMs: number): Promise<void> {
  if (leases.length === 0) return;
  const released = await releaseLeases(db, { leases, task: { dueAtMs } });
  if (released.length === leases.length) return;
  const done = new Set(released.map((row) => keyOf(leaseColumns.read(row))));
  for (const lease of leases) {
    if (!done.has(keyOf(lease))) await releaseLease(db, { leases: [lease], task: { dueAtMs } });
  }
}

function keyOf({ jobId, kind, subject }: JobTaskLease): string {
  return `${jobId}/${kind}/${subject}`;
}
