import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { isUnhealthy } from "../schema/triggers.ts";
import { statement } from "../sql/statement.ts";

/**
 * Counts and ages that show the health of the whole deployment. Each count is exact up to 10,000. Each age is that of the oldest waiting
 * item, in seconds; 0 if nothing waits.
 */
export type DeploymentHealth = {
  readonly activeAccounts: number;
  readonly expiredAccounts: number;
  /** Endpoints that fail now. */
  readonly failingEndpoints: number;
  /** Endpoints that svc deactivated because they failed for long. */
  readonly givenUpEndpoints: number;
  /**
   * Age of the oldest due delivery that no node sends, among the delivery queues of up to 10,000 subscriptions. Deliveries to failing or
   * slowed-down endpoints do not count.
   */
  readonly deliveriesSeconds: number;
  /** Age of the oldest due task of a job that no node has taken. */
  readonly jobsSeconds: number;
  /** Age of the oldest due task of a schedule that no node has taken. */
  readonly schedulesSeconds: number;
};

/** Maximum value of each count. */
const countMax = 10_000;
/** Maximum number of delivery queues of each epoch that are visited. Each subscription has one queue in an epoch. */
const queuesMax = 10_000;
/** Maximum number of taken tasks that may be older than the oldest task that no node has taken. */
const takenMax = 10_000;

const isFree = "(lease_until is null or lease_until <= $1::timestamptz)";

const oldestOf = (table: string) => `select t.due_at from (
    select due_at, lease_until from ${table} where due_at <= $1::timestamptz order by due_at, project_id limit ${takenMax}) t
  where ${isFree} order by t.due_at limit 1`;

/**
 * SQL for the delivery queues: each epoch with each subscription that has tasks in it. Goes from one subscription to the next by the key of
 * delivery_tasks, so a long queue costs no more than a short one. Epoch 0 has the tasks that wait for a retry. It is left out if none of
 * them is due, as usual, because nodes move due ones to the current epoch.
 */
const queues = `queues as (${firstQueues()} union all
     select q.epoch, ${queueAfter("q.epoch", "and t.subscription_id > q.id")}, q.hop + 1 from queues q
     where q.id is not null and q.hop < ${queuesMax})`;

function firstQueues(): string {
  const hasDueRetry =
    "exists (select from delivery_tasks t where t.epoch = 0 and t.due_at <= $1::timestamptz order by t.due_at limit 1)";
  return `select e.epoch, ${queueAfter("e.epoch", "")} as id, 1 as hop
     from unnest${liveEpochs} as e(epoch) where e.epoch <> 0 or ${hasDueRetry}`;
}

function queueAfter(epoch: string, condition: string): string {
  return `(select t.subscription_id from delivery_tasks t where t.epoch = ${epoch} ${condition} order by t.epoch, t.subscription_id limit 1)`;
}

/** SQL for the due time of the oldest due delivery that no node sends. Reads the first task without a lease of each queue. */
const oldestDelivery = `select min(o.due_at) from queues q
       cross join lateral (select from subscriptions
         where id = q.id and active and failing_since is null and settings->'pace' is null offset 0) s
       cross join lateral (select t.due_at from delivery_tasks t
         where t.epoch = q.epoch and t.subscription_id = q.id and t.due_at <= $1::timestamptz and ${isFree}
         order by t.epoch, t.subscription_id, t.due_at limit 1) o`;

const accountsIn = (state: string) =>
  `select count(*)::int4 from (select from connected_accounts where (state || ' ') = '${state} ' limit ${countMax}) a`;

const endpointsThat = (condition: string) =>
  `select count(*)::int4 from (
     select from subscriptions where ${condition} and ${isUnhealthy} and kind = 'events' limit ${countMax}) s`;

/** Reads counts and ages from indexes of the rows that they are about. So a deployment without such rows reads next to nothing. */
const read = statement<DeploymentHealth>(
  "read_deployment_health",
  `with recursive ${queues}, ages as (select (${oldestDelivery}) as deliveries,
     (${oldestOf("job_tasks")}) as jobs,
     (${oldestOf("due_tasks")}) as schedules)
   select (${accountsIn("active")}) as "activeAccounts", (${accountsIn("expired")}) as "expiredAccounts",
     (${endpointsThat("active")}) as "failingEndpoints", (${endpointsThat("not active")}) as "givenUpEndpoints",
     ${["deliveries", "jobs", "schedules"]
       .map((name) => `coalesce(extract(epoch from $1::timestamptz - ${name}), 0)::float8 as "${name}Seconds"`)
       .join(", ")}
   from ages`,
);

/** Returns the health of the whole deployment, read with one statement. `nowMs`: the present time, from which ages are counted. */
export async function readDeploymentHealth(db: Executor, nowMs: number): Promise<DeploymentHealth> {
  const [health] = await read(db, [isoTime(nowMs)]);
  if (health === undefined) throw new Error("the health of the deployment has no row");
  return health;
}
