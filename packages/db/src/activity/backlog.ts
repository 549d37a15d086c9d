import { firstUuidAt, idOfUuid, isoTime, type ProjectId, type SubscriptionId, timeOfId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { queuedSubscriptions } from "../projects/usage.ts";
import { isUnhealthy } from "../schema/triggers.ts";
import { type JobStatus, jobStatuses } from "../schema/words.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Maximum value of each count of waiting work that the functions of this file return. A larger number is returned as this maximum. */
export const backlogMax = 10_000;

/** Pending deliveries of one subscription. Only deliveries among the first 10,000 of the project are counted. */
export type PendingOfSubscription = {
  readonly subscriptionId: SubscriptionId;
  readonly count: number;
  /**
   * Number of deliveries in each age group, in the order of `backlogAges`. The last group has the deliveries that are older than all of
   * these ages.
   */
  readonly byAge: readonly number[];
  /** Time at which the oldest delivery was queued, epoch milliseconds. */
  readonly oldestAt: number;
};

/** Counts the queued deliveries of a project for each subscription and age group. */
const selectPending = statement<{ id: string; count: number; ages: number[]; oldest: string }>(
  "read_pending_backlog",
  // $2: maximum number of deliveries in all. $3: the lowest delivery id of each age group, youngest group first. An id contains its time.
  `${queuedSubscriptions("$1::uuid")}
   select t.subscription_id as id, count(*)::int4 as count, min(t.delivery_id::text) as oldest,
     array[count(*) filter (where t.delivery_id >= ($3::uuid[])[1]),
       count(*) filter (where t.delivery_id < ($3::uuid[])[1] and t.delivery_id >= ($3::uuid[])[2]),
       count(*) filter (where t.delivery_id < ($3::uuid[])[2] and t.delivery_id >= ($3::uuid[])[3]),
       count(*) filter (where t.delivery_id < ($3::uuid[])[3] and t.delivery_id >= ($3::uuid[])[4]),
       count(*) filter (where t.delivery_id < ($3::uuid[])[4])]::int4[] as ages
   from (select t.subscription_id, t.delivery_id from queued s
     cross join lateral (select subscription_id, delivery_id from delivery_tasks where epoch = any${liveEpochs} and subscription_id = s.id offset 0) t
     limit $2::int4) t
   group by t.subscription_id`,
);

/** Maximum ages of the age groups, in seconds. Each group begins where the previous group ends. */
export const backlogAges = [60, 600, 3_600, 86_400] as const;

/** Returns the numbers of pending deliveries of a project, by subscription. It counts at most 10,000 deliveries in all. */
export async function readPendingBacklog(
  db: Executor,
  projectId: ProjectId,
  nowMs: number,
): Promise<PendingOfSubscription[]> {
  const bounds = backlogAges.map((seconds) => firstUuidAt(nowMs - seconds * 1_000));
  const rows = await selectPending(db, [uuidOfId(projectId), backlogMax, arrayLiteral(bounds)]);
  return rows.map(({ id, count, ages, oldest }) => {
    const oldestAt = timeOfId(idOfUuid("dlv", oldest));
    return { subscriptionId: idOfUuid("sub", id), count, byAge: ages, oldestAt };
  });
}

/** Counts of a project's endpoints that fail at present or that svc has deactivated. Each is exact up to 10,000. */
export type EndpointCounts = {
  readonly failing: number;
  /** Number of endpoints that svc deactivated because of failures. */
  readonly givenUp: number;
};

/**
 * Counts the failing subscriptions of a project, and those that were deactivated after failures, each up to $2. Endpoints for questions to
 * people do not count. Reads the index subscriptions_unhealthy, which has no healthy endpoint.
 */
const countEndpoints = statement<EndpointCounts>(
  "count_failing_endpoints",
  `select (select count(*)::int4 from (
       select from subscriptions where project_id = $1::uuid and active and ${isUnhealthy} and kind = 'events' limit $2::int4) f) as failing,
     (select count(*)::int4 from (
       select from subscriptions where project_id = $1::uuid and not active and ${isUnhealthy} and kind = 'events' limit $2::int4) g) as "givenUp"`,
);

/** Returns how many of a project's endpoints fail, and how many svc deactivated. */
export async function countFailingEndpoints(db: Executor, projectId: ProjectId): Promise<EndpointCounts> {
  const [row] = await countEndpoints(db, [uuidOfId(projectId), backlogMax]);
  return row ?? { failing: 0, givenUp: 0 };
}

/** Statuses of unfinished jobs: all statuses that precede `succeeded`, the first final status. */
const unfinished = jobStatuses.slice(0, jobStatuses.indexOf("succeeded"));

function jobsOf(condition: string): string {
  return `select from jobs where ${condition} and (project_id, status, id) >= ($1::uuid, s.status, '${firstUuid}'::uuid)
    and (project_id, status, id) <= ($1::uuid, s.status, '${lastUuid}'::uuid) limit $3::int4`;
}

/**
 * Counts a project's jobs in each of the given statuses, up to a maximum. Reads the indexes jobs_status and jobs_simulations. Together they
 * contain exactly the jobs that a list of jobs shows.
 */
const countJobs = statement<{ status: JobStatus; count: number }>(
  "count_jobs_by_status",
  `select s.status, least($3::int4, c.count)::int4 as count from unnest($2::text[]) as s(status) cross join lateral (
     select (select count(*) from (${jobsOf("mode = 'live' and parent_job_id is null")}) l)
       + (select count(*) from (${jobsOf("mode = 'simulate' and parent_job_id is null and simulated_from is null")}) o) as count) c
   where c.count > 0`,
);

/** Returns the number of unfinished jobs in each status, exact up to 10,000. Statuses without jobs are absent. */
export async function countJobsByStatus(
  db: Executor,
  projectId: ProjectId,
): Promise<{ readonly status: JobStatus; readonly count: number }[]> {
  return await countJobs(db, [uuidOfId(projectId), arrayLiteral(unfinished), backlogMax]);
}

/** Numbers of things in a project that a person must act on: open questions of jobs, and accounts that must be connected again. */
export type PendingDecisionCounts = {
  readonly pendingAsks: number;
  /** Time of the oldest pending ask, epoch milliseconds; null if no ask is pending. */
  readonly oldestAskAt: number | null;
  readonly expiredAccounts: number;
};

/**
 * Returns the SQL query for a project's rows of a table that are in a given state, oldest first. The query uses an index on the state
 * expression, the project and the id.
 */
function inState(table: string, state: string, columns = ""): string {
  return `select ${columns} from ${table} where ((state || ' '), project_id, id) >= ('${state} ', $1::uuid, '${firstUuid}'::uuid)
    and ((state || ' '), project_id, id) <= ('${state} ', $1::uuid, '${lastUuid}'::uuid)
    order by (state || ' '), project_id, id`;
}

/** Counts pending asks and expired accounts by the indexes job_asks_state, connected_accounts_state and connected_accounts_run_out. */
const countWaiting = statement<PendingDecisionCounts>(
  "count_waiting_for_people",
  `select (select count(*)::int4 from (${inState("job_asks", "pending")} limit $2::int4) a) as "pendingAsks",
     (select (extract(epoch from a.asked_at) * 1000)::float8 from (${inState("job_asks", "pending", "asked_at")} limit 1) a) as "oldestAskAt",
     least($2::int4, (select count(*)::int4 from (${inState("connected_accounts", "expired")} limit $2::int4) a)
       + (select count(*)::int4 from (select from connected_accounts where state = 'active' and expires_at is not null
            and project_id = $1::uuid and expires_at <= $3::timestamptz limit $2::int4) r)) as "expiredAccounts"`,
);

/**
 * Returns the numbers of pending asks (open questions of jobs to people) and of expired accounts of a project. Each number is exact up to
 * 10,000.
 */
export async function countWaitingForPeople(
  db: Executor,
  projectId: ProjectId,
  nowMs: number,
): Promise<PendingDecisionCounts> {
  const [row] = await countWaiting(db, [uuidOfId(projectId), backlogMax, isoTime(nowMs)]);
  return row ?? { pendingAsks: 0, oldestAskAt: null, expiredAccounts: 0 };
}
