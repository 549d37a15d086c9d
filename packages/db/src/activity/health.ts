import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { readyEpochs } from "../deliveries/epoch.ts";
import { isUnhealthy } from "../schema/triggers.ts";
import { statement } from "../sql/statement.ts";

/** Health of the whole deployment. Each count is exact up to 10,000. Each age is in seconds, and 0 if nothing waits. */
export type DeploymentHealth = {
  readonly activeAccounts: number;
  readonly expiredAccounts: number;
  /** Endpoints that fail now. */
  readonly failingEndpoints: number;
  /** Endpoints that svc deactivated because they failed for long. */
  readonly givenUpEndpoints: number;
  /** Age of the oldest due delivery that no node sends. Deliveries to failing or slowed-down endpoints do not count. */
  readonly deliveriesSeconds: number;
  /** Age of the oldest due task of a job that no node has taken. */
  readonly jobsSeconds: number;
  /** Age of the oldest due task of a schedule that no node has taken. */
  readonly schedulesSeconds: number;
};

/** Maximum value of each count. */
const countMax = 10_000;
/** Maximum number of due deliveries among which the oldest is found. */
const deliveriesMax = 100_000;
/** Maximum number of taken tasks that may be older than the oldest task that no node has taken. */
const takenMax = 10_000;

const isFree = "(lease_until is null or lease_until <= $1::timestamptz)";

const oldestOf = (table: string) => `select t.due_at from (
    select due_at, lease_until from ${table} where due_at <= $1::timestamptz order by due_at, project_id limit ${takenMax}) t
  where ${isFree} order by t.due_at limit 1`;

const accountsIn = (state: string) =>
  `select count(*)::int4 from (select from connected_accounts where (state || ' ') = '${state} ' limit ${countMax}) a`;

const endpointsThat = (condition: string) =>
  `select count(*)::int4 from (
     select from subscriptions where ${condition} and ${isUnhealthy} and kind = 'events' limit ${countMax}) s`;

/** Reads counts and ages from indexes of the rows that they are about. So a deployment without such rows reads next to nothing. */
const read = statement<DeploymentHealth>(
  "read_deployment_health",
  `with ages as (select
     (select min(g.at) from (
        select t.subscription_id, min(t.due_at) as at from (
          select subscription_id, due_at, lease_until from delivery_tasks
          where epoch = any${readyEpochs} and due_at <= $1::timestamptz limit ${deliveriesMax}) t
        where ${isFree} group by t.subscription_id) g
      cross join lateral (select from subscriptions
        where id = g.subscription_id and active and failing_since is null and settings->'pace' is null offset 0) s) as deliveries,
     (${oldestOf("job_tasks")}) as jobs,
     (${oldestOf("due_tasks")}) as schedules)
   select (${accountsIn("active")}) as "activeAccounts", (${accountsIn("expired")}) as "expiredAccounts",
     (${endpointsThat("active")}) as "failingEndpoints", (${endpointsThat("not active")}) as "givenUpEndpoints",
     ${["deliveries", "jobs", "schedules"]
       .map((name) => `coalesce(extract(epoch from $1::timestamptz - ${name}), 0)::float8 as "${name}Seconds"`)
       .join(", ")}
   from ages`,
);

/** Returns the health of the deployment at a time, in one statement. */
export async function readDeploymentHealth(db: Executor, nowMs: number): Promise<DeploymentHealth> {
  const [health] = await read(db, [isoTime(nowMs)]);
  if (health === undefined) throw new Error("the health of the deployment has no row");
  return health;
}
