import { idOfUuid, isoTime, type NodeId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { ClaimedReplay } from "../replays/repo.ts";
import { dueTasks } from "../schema/standing.ts";
import type { Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/**
 * A task of a standing program (a program that starts jobs on a schedule or event) that only this node may work on from now on. `attempt`:
 * number of times the task was claimed up to now.
 */
export type ClaimedDueTask = Readonly<
  Row<typeof dueTasks, "ownerId" | "kind" | "subject" | "projectId" | "leaseToken" | "attempt" | "dueAt">
> & {
  /** Number of tasks of the same project that were due when this node claimed the task, including this task. Counted only up to a limit. */
  readonly dueOfProject: number;
};

/** Options of `claimDueTasks`. */
export type DueClaimRequest = {
  readonly owner: NodeId;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  /** Maximum number of tasks to claim. */
  readonly limit: number;
};

/** To take at most n due tasks, svc looks at 3n of them, so that every project gets a share. */
const windowFactor = 3;

/**
 * Maximum number of due tasks that are scanned to find all projects with due tasks. If more tasks of other projects are due before a
 * project's first task, this project has to wait until there are fewer.
 */
const aheadMax = 20_000;

const claimed = selectList(
  dueTasks,
  ["ownerId", "kind", "subject", "projectId", "leaseToken", "attempt", "dueAt"],
  "t",
);

/**
 * Claims due tasks: only this node may then work on them, for a limited time. Every project gets its first task before any project gets a
 * second.
 */
const claimTasks = statement<RawRow<Omit<ClaimedDueTask, "dueOfProject">> & Pick<ClaimedDueTask, "dueOfProject">>(
  "claim_due_tasks",
  // `is true` prevents PostgreSQL from using the index of due times, so that it looks each task up by its key. The lease is in none of the
  // indexes, so the update changes none of them (HOT).
  `with ahead as materialized (
    select project_id, due_at from due_tasks where due_at <= $1::timestamptz order by due_at, project_id limit ${aheadMax}
  ), owners as materialized (
    select project_id, min(due_at) as first, count(*) as tasks, count(*) over () as owners from ahead group by project_id
    order by first, project_id limit $2::int4
  ), due as materialized (
    select d.*, o.tasks from owners o cross join lateral (
      select owner_id, kind, subject, project_id, due_at from due_tasks
      where project_id = o.project_id and due_at <= $1::timestamptz and (lease_until is null or lease_until <= $1::timestamptz)
      order by project_id, due_at limit greatest(1, $2::int4 / o.owners) offset 0) d
  ), ranked as materialized (
    select *, row_number() over (partition by project_id order by due_at, owner_id) as place from due
  ), picked as materialized (
    select t.owner_id, t.kind, t.subject, r.tasks from ranked r
    join due_tasks t on t.owner_id = r.owner_id and t.kind = r.kind and t.subject = r.subject
    where (t.due_at <= $1::timestamptz) is true and (t.lease_until is null or t.lease_until <= $1::timestamptz)
    order by r.place, r.due_at, r.owner_id limit $3::int4
    for update of t skip locked
  )
  update due_tasks t set lease_owner = $4::uuid, lease_token = t.lease_token + 1, lease_until = $5::timestamptz,
    attempt = t.attempt + 1
  from picked p where t.owner_id = p.owner_id and t.kind = p.kind and t.subject = p.subject
  returning ${claimed.text}, p.tasks::int4 as "dueOfProject"`,
);

/**
 * The tasks that a node has claimed together, so that only this node works on them. `tasks`: of standing programs (programs that start jobs
 * on a schedule or event). `replays`: of throttled replays, which deliver events again slowly.
 */
export type DueClaim = { readonly tasks: readonly ClaimedDueTask[]; readonly replays: readonly ClaimedReplay[] };

/**
 * Claims due tasks of standing programs (schedules) and of throttled replays for the node `owner`, so that no other node works on them for a
 * limited time.
 */
export async function claimDueTasks(db: Executor, request: DueClaimRequest): Promise<DueClaim> {
  const { owner, nowMs, leaseUntilMs, limit } = request;
  const parameters = [isoTime(nowMs), limit * windowFactor, limit, uuidOfId(owner)];
  const rows = await claimTasks(db, [...parameters, isoTime(leaseUntilMs)]);
  const all = rows.map((row) => ({ ...claimed.read(row), dueOfProject: row.dueOfProject }));
  return {
    tasks: all.filter(({ kind }) => kind !== "replay"),
    replays: all.filter(({ kind }) => kind === "replay").map(claimedReplay),
  };
}

function claimedReplay({ ownerId, projectId, dueAt, leaseToken, attempt }: ClaimedDueTask): ClaimedReplay {
  return { id: idOfUuid("rpl", uuidOfId(ownerId)), projectId, dueAt, leaseToken, attempt };
}
