import { type Id, idOfUuid, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";
import type { JobTaskKind, NewJobTask } from "./record.ts";

/** Names one task and the lease it is held under. Every write of its holder states it, and is refused once it is another's. */
export type JobTaskLease = {
  readonly jobId: Id<"job">;
  readonly kind: JobTaskKind;
  readonly subject: string;
  readonly leaseToken: number;
};

/** A task that this node now holds. */
export type ClaimedJobTask = JobTaskLease & {
  readonly projectId: ProjectId;
  /** Claims so far, this one included; settling or moving the task begins anew. */
  readonly attempt: number;
  readonly dueAt: number;
};

/** What `claimJobTasks` takes. */
export type JobClaimRequest = {
  readonly owner: NodeId;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  /** Tasks at most. */
  readonly limit: number;
  /** Tasks at most of one project. */
  readonly share: number;
  /** Projects that get nothing: they use their share of this node. */
  readonly fullProjects: ReadonlySet<ProjectId>;
};

/** Due tasks looked at for one claim, as a multiple of its limit: among them every project gets its share. */
const windowFactor = 20;

/**
 * Claims due tasks, the oldest first, the first of every project before the second of any. job_tasks_due serves the window; what
 * of it is leased is skipped there. SKIP LOCKED: nodes never wait for each other. A lease that ran out is claimed like a free
 * task, and its old holder's writes are refused by the token. No index names a lease column: the update is HOT.
 */
const claimTasks = statement<{
  job_id: string;
  kind: JobTaskKind;
  subject: string;
  project_id: string;
  lease_token: string;
  attempt: number;
  due_ms: number;
}>(
  "claim_job_tasks",
  `with due as materialized (
    select job_id, kind, subject, project_id, due_at from job_tasks
    where due_at <= $1::timestamptz and (lease_until is null or lease_until <= $1::timestamptz)
      and project_id <> all($2::uuid[])
    order by due_at, project_id limit $3::int4
  ), ranked as materialized (
    select *, row_number() over (partition by project_id order by due_at, job_id) as place from due
  ), picked as materialized (
    select t.job_id, t.kind, t.subject from ranked r
    join job_tasks t on t.job_id = r.job_id and t.kind = r.kind and t.subject = r.subject
    where r.place <= $4::int4 and t.due_at <= $1::timestamptz
      and (t.lease_until is null or t.lease_until <= $1::timestamptz)
    order by r.place, r.due_at, r.job_id limit $5::int4
    for update of t skip locked
  )
  update job_tasks t set lease_owner = $6::uuid, lease_token = t.lease_token + 1, lease_until = $7::timestamptz,
    attempt = t.attempt + 1
  from picked p where t.job_id = p.job_id and t.kind = p.kind and t.subject = p.subject
  returning t.job_id, t.kind, t.subject, t.project_id, t.lease_token, t.attempt,
    (extract(epoch from t.due_at) * 1000)::float8 as due_ms`,
);

/** Claims due tasks of every kind for `owner`; see the statement for order and fairness. */
export async function claimJobTasks(db: Executor, request: JobClaimRequest): Promise<ClaimedJobTask[]> {
  const rows = await claimTasks(db, [
    new Date(request.nowMs).toISOString(),
    arrayLiteral([...request.fullProjects].map(uuidOfId)),
    request.limit * windowFactor,
    request.share,
    request.limit,
    uuidOfId(request.owner),
    new Date(request.leaseUntilMs).toISOString(),
  ]);
  return rows.map((row) => ({
    jobId: idOfUuid("job", row.job_id),
    kind: row.kind,
    subject: row.subject,
    projectId: idOfUuid("prj", row.project_id),
    leaseToken: Number(row.lease_token),
    attempt: row.attempt,
    dueAt: row.due_ms,
  }));
}

const renewLeases = statement<{
  job_id: string;
  kind: JobTaskKind;
  subject: string;
  lease_token: string;
  is_cancelled: boolean;
}>(
  "renew_job_leases",
  `update job_tasks t set lease_until = $5::timestamptz
   from unnest($1::uuid[], $2::text[], $3::text[], $4::int8[]) as i(job_id, kind, subject, lease_token)
   where t.job_id = i.job_id and t.kind = i.kind and t.subject = i.subject and t.lease_token = i.lease_token
     and t.lease_owner is not null
   returning t.job_id, t.kind, t.subject, t.lease_token,
     coalesce((select j.cancel_requested_at is not null from jobs j where j.id = t.job_id), false) as is_cancelled`,
);

/** Renews leases in one statement and returns those that still were this node's, and whether their jobs are to be cancelled. */
export async function renewJobLeases(
  db: Executor,
  leases: readonly JobTaskLease[],
  leaseUntilMs: number,
): Promise<(JobTaskLease & { readonly isCancelled: boolean })[]> {
  const rows = await renewLeases(db, [...leaseColumns(leases), new Date(leaseUntilMs).toISOString()]);
  return rows.map((row) => ({
    jobId: idOfUuid("job", row.job_id),
    kind: row.kind,
    subject: row.subject,
    leaseToken: Number(row.lease_token),
    isCancelled: row.is_cancelled,
  }));
}

const releaseLeases = statement<{ job_id: string }>(
  "release_job_leases",
  `update job_tasks t set lease_owner = null, lease_until = null, due_at = greatest(t.due_at, $5::timestamptz)
   from unnest($1::uuid[], $2::text[], $3::text[], $4::int8[]) as i(job_id, kind, subject, lease_token)
   where t.job_id = i.job_id and t.kind = i.kind and t.subject = i.subject and t.lease_token = i.lease_token
   returning t.job_id`,
);

/** Gives leases back: the tasks are due again at `dueAtMs`, or later where they were. Lost ones are left alone. */
export async function releaseJobTasks(db: Executor, leases: readonly JobTaskLease[], dueAtMs: number): Promise<void> {
  if (leases.length > 0) await releaseLeases(db, [...leaseColumns(leases), new Date(dueAtMs).toISOString()]);
}

function leaseColumns(leases: readonly JobTaskLease[]): string[] {
  return [
    arrayLiteral(leases.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(leases.map(({ kind }) => kind)),
    arrayLiteral(leases.map(({ subject }) => subject)),
    arrayLiteral(leases.map(({ leaseToken }) => String(leaseToken))),
  ];
}

const holdTask = statement<{ job_id: string }>(
  "hold_job_task",
  `select job_id from job_tasks where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   for update`,
);

/**
 * Locks a task for the rest of the transaction; false when its lease is lost. Lock the job's row (`lockJob`) first: everybody
 * takes the two in this order.
 */
export async function holdJobTask(tx: Executor, lease: JobTaskLease): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await holdTask(tx, [uuidOfId(jobId), kind, subject, leaseToken])).length > 0;
}

const lockRow = statement<{ id: string }>("lock_job", "select id from jobs where id = $1::uuid for no key update");

/** Locks a job's row for the rest of the transaction. Whoever writes to a job or its tasks does this first. */
export async function lockJob(tx: Executor, jobId: Id<"job">): Promise<void> {
  await lockRow(tx, [uuidOfId(jobId)]);
}

const endTask = statement<{ job_id: string }>(
  "end_job_task",
  `delete from job_tasks where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   returning job_id`,
);

/** Ends a task; false when its lease is lost. */
export async function endJobTask(db: Executor, lease: JobTaskLease): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  return (await endTask(db, [uuidOfId(jobId), kind, subject, leaseToken])).length > 0;
}

const moveTask = statement<{ job_id: string }>(
  "move_job_task",
  `update job_tasks set due_at = $5::timestamptz, lease_owner = null, lease_until = null
   where job_id = $1::uuid and kind = $2::text and subject = $3::text and lease_token = $4::int8
   returning job_id`,
);

/** Gives a task back, to be due then; its attempts stay counted. False when its lease is lost. */
export async function moveJobTask(db: Executor, lease: JobTaskLease, dueAtMs: number): Promise<boolean> {
  const { jobId, kind, subject, leaseToken } = lease;
  const due = new Date(dueAtMs).toISOString();
  return (await moveTask(db, [uuidOfId(jobId), kind, subject, leaseToken, due])).length > 0;
}

/** A task that is there already is due at the earlier of the two times, and keeps its lease. */
const putTasks = statement<{ job_id: string }>(
  "put_job_tasks",
  `insert into job_tasks (job_id, kind, subject, project_id, due_at)
   select * from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::timestamptz[])
   on conflict (job_id, kind, subject) do update set due_at = least(job_tasks.due_at, excluded.due_at)`,
);

/** Makes tasks due. One that is there keeps its lease and takes the earlier time. */
export async function putJobTasks(db: Executor, tasks: readonly NewJobTask[]): Promise<void> {
  if (tasks.length === 0) return;
  await putTasks(db, [
    arrayLiteral(tasks.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(tasks.map(({ kind }) => kind)),
    arrayLiteral(tasks.map(({ subject }) => subject)),
    arrayLiteral(tasks.map(({ projectId }) => uuidOfId(projectId))),
    arrayLiteral(tasks.map(({ dueAt }) => new Date(dueAt).toISOString())),
  ]);
}

const takeRun = statement<{ lease_token: string }>(
  "take_run_task",
  `insert into job_tasks (job_id, kind, subject, project_id, due_at, lease_owner, lease_token, lease_until)
   values ($1::uuid, 'run', '', $2::uuid, $3::timestamptz, $4::uuid, 1, $5::timestamptz)
   on conflict (job_id, kind, subject) do update set due_at = excluded.due_at, lease_token = job_tasks.lease_token + 1,
     lease_owner = excluded.lease_owner, lease_until = excluded.lease_until, attempt = 0
   returning lease_token`,
);

/**
 * Makes a job's run due and takes it from whoever holds it: for those who change, under `lockJob`, what a driver has read of the
 * job. Only right while the job waits for a person: a driver of a job at work may have a call under way.
 */
export async function takeRunTask(
  tx: Executor,
  { jobId, projectId, dueAt }: { jobId: Id<"job">; projectId: ProjectId; dueAt: number },
): Promise<void> {
  await takeRun(tx, [uuidOfId(jobId), uuidOfId(projectId), new Date(dueAt).toISOString(), null, null]);
}

/** As `takeRunTask`, and leases it to `owner`, who commits to the job in the same transaction. Answers the lease's token. */
export async function leaseRunTask(
  tx: Executor,
  run: { jobId: Id<"job">; projectId: ProjectId; owner: NodeId; nowMs: number; leaseUntilMs: number },
): Promise<number> {
  const [row] = await takeRun(tx, [
    uuidOfId(run.jobId),
    uuidOfId(run.projectId),
    new Date(run.nowMs).toISOString(),
    uuidOfId(run.owner),
    new Date(run.leaseUntilMs).toISOString(),
  ]);
  return Number(row?.lease_token);
}

const deleteTasks = statement<{ job_id: string }>(
  "delete_job_tasks",
  "delete from job_tasks where job_id = $1::uuid and kind = any($2::text[]) and (subject = $3::text or subject like $3::text || '/%')",
);

/** Removes a job's tasks of these kinds about `subject`, or below it (`<subject>/…`); their holders' leases are lost. */
export async function deleteJobTasks(
  tx: Executor,
  { jobId, kinds, subject }: { jobId: Id<"job">; kinds: readonly JobTaskKind[]; subject: string },
): Promise<void> {
  await deleteTasks(tx, [uuidOfId(jobId), arrayLiteral([...kinds]), subject]);
}
