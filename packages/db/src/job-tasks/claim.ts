import { isoTime, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobTasks } from "../schema/jobs.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import type { Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/**
 * A task that this node now holds. `attempt`: claims so far, this one included; settling or moving the task begins anew. `losses`:
 * how many of them took it over from a lease that had run out, since the job last got on.
 */
export type ClaimedJobTask = Readonly<
  Row<typeof jobTasks, "jobId" | "kind" | "subject" | "projectId" | "leaseToken" | "attempt" | "losses" | "dueAt">
> & {
  /** Among the due ones of its project, from 1 on. Beyond the share where others before it are locked. */
  readonly place: number;
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
  /** How many places of a project beyond its share stand in for those that somebody else has locked; 0 unless given. */
  readonly spare?: number;
  /** Projects that get nothing: they use their share of this node. */
  readonly fullProjects: ReadonlySet<ProjectId>;
};

/** Due tasks looked at for one claim, as a multiple of its limit: among them every project gets its share. */
const windowFactor = 20;

const claimed = selectList(
  jobTasks,
  ["jobId", "kind", "subject", "projectId", "leaseToken", "attempt", "losses", "dueAt"],
  "t",
);

/**
 * Claims due tasks, the oldest first, the first of every project before the second of any. job_tasks_due serves the window; what
 * of it is leased is skipped there. SKIP LOCKED: nodes never wait for each other. A lease that ran out is claimed like a free
 * task, and its old holder's writes are refused by the token; that a lease was there and ran out is counted, since a holder that
 * gives its task back leaves none. No index names a column of leases: the update is HOT.
 *
 * A task whose row a stopped process has locked has its place in the share all the same, and a share of such tasks would keep its project
 * from this node: the spare places stand in for them. What is locked beyond the share is left as it is.
 */
const claimTasks = statement<RawRow<ClaimedJobTask> & { readonly place: number }>(
  "claim_job_tasks",
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

/** Claims due tasks of every kind for `owner`; see the statement for order and fairness. */
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
