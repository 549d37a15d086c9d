import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { jobStatuses } from "../schema/words.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { statement } from "../sql/statement.ts";

/** Statuses of unfinished jobs: all statuses that precede `succeeded`, the first final status. */
const unfinished = jobStatuses.slice(0, jobStatuses.indexOf("succeeded"));

/** Returns SQL for a `from` clause with one row for each unfinished job of a project. `projectId`: SQL expression of the project's id. */
export function unfinishedJobs(projectId: string): string {
  // Live jobs without a parent have another index than all other jobs. So both kinds are read, status by status.
  const own = `project_id = ${projectId} and status = s.status`;
  return `unnest(array[${unfinished.map((status) => `'${status}'`).join(", ")}]) as s(status)
    cross join lateral (
      (select from jobs where ${own} and mode = 'live' and parent_job_id is null offset 0)
      union all (select from jobs where ${own} and (mode <> 'live' or parent_job_id is not null) offset 0)) j`;
}

/**
 * Returns SQL common table expressions (`with …`) to put before a query. The last of them, `queued`, has the ids of the project's
 * subscriptions that may have queued deliveries.
 */
export function queuedSubscriptions(projectId: string): string {
  // `queued` has all subscriptions without an entity, and those subscriptions with an entity that have queued deliveries.
  // A project may have 100,000 subscriptions with an entity, and the queue may hold as many of other projects. So `met` goes through both
  // in the order of their ids: from one of the project to the next in the queue, and from there to the next of the project. Each step
  // makes two index lookups. The number of steps is at most the smaller of the two numbers.
  // Whole rows are compared in the order of the index, so that PostgreSQL cannot use another index. The indexes are delivery_tasks_lane,
  // subscriptions_project and subscriptions_general.
  const own = (comparison: ">" | ">=", id: string) => `(select s.id from subscriptions s
      where (s.project_id, s.id) ${comparison} (${projectId}, ${id}) and (s.project_id, s.id) <= (${projectId}, '${lastUuid}'::uuid) and s.entity_id <> ''
      order by s.project_id, s.id limit 1)`;
  const next = (from: string) => `(select t.subscription_id from delivery_tasks t
      where t.epoch = e.epoch and t.subscription_id >= ${from} order by t.epoch, t.subscription_id limit 1)`;
  return `with recursive met as (
    select e.epoch, o.id, ${next("o.id")} as queued_id
    from unnest(${liveEpochs}) as e(epoch) cross join lateral (select ${own(">", `'${firstUuid}'::uuid`)} as id offset 0) o
    where exists (select from routing_shards where project_id = ${projectId} and subscriptions > 0)
    union all
    select e.epoch, o.id, ${next("o.id")}
    from met e cross join lateral (
      select case when e.queued_id = e.id then ${own(">", "e.id")} else ${own(">=", "e.queued_id")} end as id offset 0) o
    where e.queued_id is not null
  ), queued as (
    select id from subscriptions where project_id = ${projectId} and entity_id = ''
    union all
    select distinct id from met where id = queued_id
  )`;
}

/**
 * Counts the pending deliveries of a project, up to $2. It finds the subscriptions with queued deliveries, and then the queued tasks of
 * each subscription by the key of delivery_tasks.
 */
const countDeliveries = statement<{ count: string }>(
  "count_project_deliveries",
  `${queuedSubscriptions("$1::uuid")}
   select count(*) as count from (
     select from queued s cross join lateral (
       select from delivery_tasks where epoch = any${liveEpochs} and subscription_id = s.id offset 0) t limit $2::int8) c`,
);

/** Counts the unfinished jobs of a project. The count stops at $2. */
const countJobs = statement<{ count: string }>(
  "count_project_jobs",
  `select count(*) as count from (select from ${unfinishedJobs("$1::uuid")} limit $2::int8) c`,
);

/** Counts a project's subscriptions to events that are not limited to an entity (customer or user). */
const countSubscriptions = statement<{ count: string }>(
  "count_project_subscriptions",
  "select count(*) as count from subscriptions where project_id = $1::uuid and entity_id = '' and kind = 'events'",
);

/**
 * Returns the number of a project's subscriptions that are limited to an entity (customer or user). Each of the project's up to 16 shards
 * (groups of entities) has a row with its own number. The statement adds up these numbers.
 */
const countEntitySubscriptions = statement<{ count: string }>(
  "count_project_entity_subscriptions",
  "select coalesce(sum(subscriptions), 0) as count from routing_shards where project_id = $1::uuid",
);

/**
 * Adds up the sizes of a project's toolkits (app definitions) and of their sources, except those with the slug $2. Reads no definition, only
 * its length.
 */
const measureToolkits = statement<{ bytes: string }>(
  "measure_project_toolkits",
  `select (select coalesce(sum(octet_length(definition) * (slug <> $2::text)::int + octet_length(phrases) * (slug <> $3::text)::int), 0)
        from private_toolkits where project_id = $1::uuid)
     + (select coalesce(sum(octet_length(options) + coalesce(octet_length(changes), 0) + coalesce(octet_length(next_definition), 0)), 0)
        from toolkit_sources where project_id = $1::uuid and slug <> $2::text) as bytes`,
);

/** Counts the toolkits (app definitions) that a project published for itself. Uses the primary key. */
const countToolkits = statement<{ count: string }>(
  "count_project_toolkits",
  "select count(*) as count from private_toolkits where project_id = $1::uuid",
);

/**
 * Adds up the size of a project's event payloads, call data and job rows. Reads all rows of the project, but not their large values,
 * because PostgreSQL stores the length of a large value separately.
 */
const measure = statement<{ bytes: string }>(
  "measure_project_storage",
  `select (select coalesce(sum(octet_length(payload)), 0) from events where project_id = $1::uuid)
     + (select coalesce(sum(octet_length(c.arguments) + coalesce(octet_length(c.result), 0) + coalesce(octet_length(c.replay), 0)), 0)
        from ((select arguments, result, replay from tool_calls where project_id = $1::uuid and failure is null offset 0) union all
          (select arguments, result, replay from tool_calls where project_id = $1::uuid and failure is not null offset 0)) c)
     + (select coalesce(sum(r.bytes), 0) from (
          (select id from jobs where project_id = $1::uuid and mode = 'live' and parent_job_id is null and not is_swept offset 0) union all
          (select id from jobs where project_id = $1::uuid and (mode <> 'live' or parent_job_id is not null) and not is_swept offset 0)) j
        cross join lateral (select octet_length(data) as bytes from job_rows where job_id = j.id offset 0) r)
     + (select coalesce(sum(octet_length(q.body) + coalesce(octet_length(q.envelope), 0)), 0) from (
          (select body, envelope from quarantined_posts where project_id = $1::uuid and released_at is null offset 0) union all
          (select body, envelope from quarantined_posts where project_id = $1::uuid and released_at is not null offset 0)) q) as bytes`,
);

/** Number at which a count of the project's rows (for example its jobs) stops, if the caller gives no other maximum. */
const countMax = 10_000_000;

/** Functions that return the usage of one project. If `most` is given, a count stops at this number, so that further rows cost nothing. */
export type ProjectUsage = {
  /** Returns the number of pending deliveries, including those that a node is sending now. */
  countDeliveries(most?: number): Promise<number>;
  /** Returns the number of unfinished jobs, including parked ones (that wait for a person or a time) and simulation runs. */
  countJobs(most?: number): Promise<number>;
  /** Returns how many subscriptions receive the events of all entities. Inactive subscriptions count too. */
  countSubscriptions(): Promise<number>;
  /** Returns the number of subscriptions to events of one entity (customer or user), active and inactive. */
  countEntitySubscriptions(): Promise<number>;
  countToolkits(): Promise<number>;
  /**
   * Returns the size in bytes of the private toolkits (apps that the project defined for itself) with their search phrases.
   * Includes the options and the waiting changes of their sources. `without`: slug of a toolkit whose definition and source do not count,
   * and slug of a toolkit whose phrases do not count.
   */
  measureToolkits(without?: { readonly definition?: string; readonly phrases?: string }): Promise<number>;
  /**
   * Returns the total size in bytes of four kinds of data of the project: payloads of events, call data in the ledger (record of tool
   * calls), rows of jobs, and quarantined posts to private toolkits (apps that the project defined itself). Reads all of these rows.
   */
  measureStorage(): Promise<number>;
};

/** Returns functions that count how much of each quota a project uses. */
export function usageOfProject(db: Executor, projectId: ProjectId): ProjectUsage {
  const id = uuidOfId(projectId);
  const bound = (most = countMax) => Math.min(most, countMax);
  return {
    countDeliveries: async (most) => countOf(await countDeliveries(db, [id, bound(most)])),
    countJobs: async (most) => countOf(await countJobs(db, [id, bound(most)])),
    countSubscriptions: async () => countOf(await countSubscriptions(db, [id])),
    countEntitySubscriptions: async () => countOf(await countEntitySubscriptions(db, [id])),
    countToolkits: async () => countOf(await countToolkits(db, [id])),
    measureToolkits: async ({ definition = "", phrases = "" } = {}) =>
      Number((await measureToolkits(db, [id, definition, phrases]))[0]?.bytes ?? 0),
    measureStorage: async () => Number((await measure(db, [id]))[0]?.bytes ?? 0),
  };
}

function countOf([row]: readonly { count: string }[]): number {
  return Number(row?.count ?? 0);
}
