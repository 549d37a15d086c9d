import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { subscriptions } from "../schema/index.ts";
import { idOf, int4, int8, type Row, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList, values } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Maximum number of pending deliveries of a subscription that are scanned to find the oldest event. */
const scannedTasksMax = 20_000;

/** Finds the oldest event among at most 20,000 pending deliveries of a subscription. `is_whole`: true if it has fewer than 20,000. */
const selectOldest = statement<{ event_id: string | null; is_whole: boolean }>(
  "find_oldest_pending_event",
  `with looked as materialized (
    select event_id from delivery_tasks where epoch = any${liveEpochs} and subscription_id = $1::uuid limit ${scannedTasksMax}
  )
  select (select event_id from looked order by event_id limit 1) as event_id, (select count(*) from looked) < ${scannedTasksMax} as is_whole`,
);

/** Finds the newest error among the subscription's newest 1,000 deliveries, which it reads by the index deliveries_subscription. */
const selectError = statement<{ last_error: string }>(
  "find_last_delivery_error",
  `select d.last_error from (
     select project_id, subscription_id, id, last_error from deliveries
     where project_id = $1::uuid and subscription_id = $2::uuid
     order by project_id desc, subscription_id desc, id desc limit 1000) d
   where d.last_error <> '' order by d.id desc limit 1`,
);

/**
 * Returns the oldest event that has a pending delivery to a subscription. Returns undefined if no delivery is pending. Returns `unknown` if
 * the subscription has 20,000 or more pending deliveries, because no more are scanned.
 */
export async function findOldestPendingEvent(
  db: Executor,
  id: SubscriptionId,
): Promise<EventId | "unknown" | undefined> {
  const [row] = await selectOldest(db, [uuidOfId(id)]);
  if (row === undefined || !row.is_whole) return "unknown";
  return row.event_id === null ? undefined : idOfUuid("evt", row.event_id);
}

/**
 * Returns the error of the newest delivery with an error, among the newest 1,000 deliveries of a subscription. Empty if none of these has
 * an error.
 */
export async function findLastDeliveryError(db: Executor, projectId: ProjectId, id: SubscriptionId): Promise<string> {
  const [row] = await selectError(db, [uuidOfId(projectId), uuidOfId(id)]);
  return row?.last_error ?? "";
}

/** Duration of failures after which svc reports an outage as an operational event, in milliseconds. */
const outageMinMs = "600000";

/** A subscription whose endpoint has failed or recovered. */
type EndpointTurn = Readonly<
  Row<typeof subscriptions, "projectId" | "kind" | "endpointUrl" | "toolkitSlug" | "triggerSlug" | "entityId">
>;

const turnColumns = selectList(
  subscriptions,
  ["projectId", "kind", "endpointUrl", "toolkitSlug", "triggerSlug", "entityId"],
  "s",
);

/**
 * A subscription whose endpoint works again after an outage of 10 minutes or longer. `failingSince`: time of its first failure, epoch
 * milliseconds.
 */
export type SubscriptionRecovery = EndpointTurn & {
  readonly subscriptionId: SubscriptionId;
  readonly failingSince: number;
};

/**
 * Ends the backoff (pause after failures) of subscriptions after a successful delivery. The condition of the statement matches only failing
 * subscriptions, so that the successes of a healthy endpoint write nothing. Uses the primary key.
 */
const recordRecoveries = statement<
  RawRow<EndpointTurn> & { id: string; failing_since_ms: number; was_reported: boolean | null }
>(
  "record_recoveries",
  `update subscriptions s set failing_since = null, backoff_until = null, backoff_set_at = null, backoff_ms = 0, gone_since = null, gone_count = 0
   from subscriptions old where s.id = any($1::uuid[]) and s.failing_since is not null and old.id = s.id
   returning s.id, ${turnColumns.text}, (extract(epoch from old.failing_since) * 1000)::float8 as failing_since_ms,
     old.backoff_set_at - old.failing_since >= ${outageMinMs} * interval '1 millisecond' as was_reported`,
);

/**
 * Ends the backoff of subscriptions whose endpoint has accepted a delivery. Returns the subscriptions for which svc had reported an outage
 * to the project.
 */
export async function reportSubscriptionRecoveries(
  db: Executor,
  ids: readonly SubscriptionId[],
): Promise<SubscriptionRecovery[]> {
  if (ids.length === 0) return [];
  const ended = await recordRecoveries(db, [arrayLiteral(ids.map(uuidOfId))]);
  return ended.flatMap(({ id, failing_since_ms: failingSince, was_reported, ...row }) =>
    was_reported === true ? [{ ...turnColumns.read(row), subscriptionId: idOfUuid("sub", id), failingSince }] : [],
  );
}

/** Failed attempts of one subscription, from a batch of attempts whose results a node stores together. */
export type SubscriptionFailures = {
  subscriptionId: SubscriptionId;
  /** Time at which the latest of the failed delivery attempts began, in epoch milliseconds. */
  startedAtMs: number;
  /** Delay that the endpoint requested by Retry-After, milliseconds; 0 if it requested none. */
  retryAfterMs: number;
  /** Number of failed attempts, if the endpoint answered all of them with status 410 (gone). Otherwise 0. */
  goneCount: number;
  /**
   * How long the endpoint must fail without a success until svc deactivates this subscription, in milliseconds. Null: svc never deactivates
   * it. Undefined: the limit `failingMaxMs` applies.
   */
  giveUpAfterMs?: number | null | undefined;
};

/** Milliseconds that stand for "never deactivate": a time longer than any endpoint can fail. */
const neverMs = 1e13;

/** Limits that decide how long svc pauses deliveries to a failing endpoint (backoff), and when it deactivates the endpoint. */
export type HealthLimits = {
  backoffMinMs: number;
  backoffMaxMs: number;
  failingMaxMs: number;
  goneMaxMs: number;
  goneMin: number;
};

/**
 * Health of a subscription after failed attempts. `outage`: new problems that svc reports to the project. `failing`: the endpoint has now
 * failed for 10 minutes. `disabled`: svc has now deactivated the subscription.
 */
export type SubscriptionHealth = EndpointTurn &
  Readonly<Row<typeof subscriptions, "inactiveReason">> & {
    subscriptionId: SubscriptionId;
    active: boolean;
    backoffUntilMs: number;
    /** Time of the first failure since the last success, epoch milliseconds. */
    failingSince: number;
    outage: readonly ("failing" | "disabled")[];
  };

const healthColumns = selectList(subscriptions, ["inactiveReason"], "s");

type FailureRow = RawRow<EndpointTurn & Pick<SubscriptionHealth, "inactiveReason">> & {
  id: string;
  active: boolean;
  backoff_until_ms: number;
  failing_since_ms: number;
  is_failing: boolean | null;
  is_disabled: boolean;
};

/**
 * Returns SQL that increments the routing version of projects, so that nodes notice deactivated subscriptions. `condition`: the SQL
 * condition for a subscription that was deactivated.
 */
const movedRouting = (condition: string) => {
  // PostgreSQL runs these expressions only as far as something reads them: without `allLocked`, some projects would stay unlocked. For a
  // subscription of one entity, a database trigger increments the version of the entity's shard.
  const projectIds = `select distinct project_id from changed where ${condition}`;
  const locked = `select id from projects where id = any(array(${projectIds})) order by id for no key update`;
  const isGeneral = `select from changed c where c.project_id = l.id and c.entity_id = '' and ${condition}`;
  const moved = `update projects set routing_version = routing_version + 1
    where id = any(array(select l.id from locked_projects l where exists (${isGeneral})))`;
  return `locked_projects as materialized (${locked}), moved as (${moved})`;
};

/** SQL column that makes PostgreSQL lock all rows of `locked_projects`. Its value is not used. */
const allLocked = "(select count(*) from locked_projects) as all_locked";

/**
 * Sets the backoff (pause before the next attempt) of failing subscriptions. Several deliveries that fail together double the backoff only
 * once. Deactivates subscriptions that have failed for too long, or whose endpoint has answered 410 too often.
 */
const recordFailures = compose(
  "record_failures",
  {
    reports: rows({
      ...{ subscriptionId: idOf("sub"), startedAtMs: timestamptz, retryAfterMs: int4, goneCount: int4 },
      giveUpAfterMs: int8,
    }),
    limits: values({
      nowMs: timestamptz,
      backoffMinMs: int4,
      backoffMaxMs: int4,
      goneMaxMs: int4,
      goneMin: int4,
    }),
  },
  // Before a deactivation, the statement looks for a success that another node had in the meantime.
  ({ reports, limits: { nowMs, ...limits } }) => query<FailureRow>`
  with input as materialized (
    select * from ${reports.from("i")}
  ), changed as (
    update subscriptions s set
      failing_since = coalesce(s.failing_since, i.started_at_ms),
      backoff_set_at = case when n.grows then ${nowMs} else s.backoff_set_at end,
      backoff_ms = case when n.grows then n.next_ms else s.backoff_ms end,
      backoff_until = greatest(
        case when n.grows then ${nowMs} + n.next_ms * interval '1 millisecond' else s.backoff_until end,
        ${nowMs} + i.retry_after_ms * interval '1 millisecond'),
      gone_since = case when i.gone_count > 0 then coalesce(s.gone_since, i.started_at_ms) end,
      gone_count = case when i.gone_count > 0 then s.gone_count + i.gone_count else 0 end,
      active = s.active and not given_up.yes,
      inactive_reason = case when not s.active then s.inactive_reason
        when not given_up.yes then s.inactive_reason when n.is_gone then 'gone' else 'failing' end
    from input i, subscriptions old, lateral (select
      old.backoff_set_at is null or i.started_at_ms > old.backoff_set_at as grows,
      least(${limits.backoffMaxMs}, greatest(${limits.backoffMinMs}, old.backoff_ms * 2)) as next_ms,
      coalesce(i.gone_count > 0 and old.gone_count + i.gone_count >= ${limits.goneMin}
        and ${nowMs} - old.gone_since >= ${limits.goneMaxMs} * interval '1 millisecond', false) as is_gone,
      coalesce(${nowMs} - old.failing_since >= i.give_up_after_ms * interval '1 millisecond', false) as is_dead,
      ${nowMs} - old.failing_since >= ${outageMinMs} * interval '1 millisecond'
        and old.backoff_set_at - old.failing_since < ${outageMinMs} * interval '1 millisecond' as is_long) n,
    lateral (select case when n.is_gone or n.is_dead then not exists (
      select from deliveries d where d.project_id = old.project_id and d.subscription_id = old.id
        and d.state = 'delivered' and d.last_attempt_at > case when n.is_gone then old.gone_since else old.failing_since end)
      else false end as yes) given_up
    where s.id = i.subscription_id and old.id = s.id
    returning s.*, old.active as was_active, old.active and n.grows and n.is_long as is_failing
  ), ${movedRouting("was_active and not active")}
  select s.id, s.active, (extract(epoch from s.backoff_until) * 1000)::float8 as backoff_until_ms,
    (extract(epoch from s.failing_since) * 1000)::float8 as failing_since_ms, s.is_failing,
    s.was_active and not s.active as is_disabled, ${turnColumns.text}, ${healthColumns.text} from changed s, ${allLocked}`,
);

/**
 * Deactivates those of the subscriptions $1 that have more than $2 pending deliveries. Counts at most $2 + 1 of each, by the primary key of
 * delivery_tasks. It locks subscriptions and then projects, both in the order of their ids.
 */
const recordOverflows = statement<{ id: string }>(
  "record_overflows",
  `with full_queues as materialized (
    select u.id from unnest($1::uuid[]) u(id) cross join lateral (
      select count(*) as pending from (
        select from delivery_tasks t where t.epoch = any${liveEpochs} and t.subscription_id = u.id limit $2::int4 + 1) t) n
    where n.pending > $2::int4
  ), changed as (
    update subscriptions s set active = false, inactive_reason = 'overflow'
    where s.id = any(array(select id from full_queues order by id)) and s.active and s.kind = 'events'
    returning s.id, s.project_id, s.entity_id
  ), ${movedRouting("true")}
  select id from changed, ${allLocked}`,
);

/**
 * Deactivates subscriptions with more than `pendingMax` pending deliveries, for the reason `overflow`. Returns the ids of those that it
 * deactivated.
 */
export async function reportSubscriptionOverflows(
  db: Executor,
  ids: readonly SubscriptionId[],
  pendingMax: number,
): Promise<ReadonlySet<SubscriptionId>> {
  if (ids.length === 0) return new Set();
  const changed = await recordOverflows(db, [arrayLiteral(ids.map(uuidOfId)), pendingMax]);
  return new Set(changed.map(({ id }) => idOfUuid("sub", id)));
}

/**
 * Stores failures of delivery attempts in the rows of their subscriptions, and decides on backoff and deactivation. `nowMs`: time at which a
 * node observed them. Returns the resulting health of each subscription.
 */
export async function reportSubscriptionFailures(
  db: Executor,
  reports: readonly SubscriptionFailures[],
  nowMs: number,
  limits: HealthLimits,
): Promise<SubscriptionHealth[]> {
  if (reports.length === 0) return [];
  // Every node writes the subscriptions in the same order, so that two nodes do not deadlock.
  const ordered = reports.toSorted((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1));
  const { failingMaxMs, ...others } = limits;
  const given = ordered.map((report) => {
    const { giveUpAfterMs = failingMaxMs } = report;
    return { ...report, giveUpAfterMs: giveUpAfterMs ?? neverMs };
  });
  const changed = await recordFailures(db, { reports: given, limits: { nowMs, ...others } });
  return changed.map(({ id, active, backoff_until_ms, failing_since_ms, is_failing, is_disabled, ...row }) => ({
    ...healthColumns.read(turnColumns.read(row)),
    ...{
      subscriptionId: idOfUuid("sub", id),
      active,
      backoffUntilMs: backoff_until_ms,
      failingSince: failing_since_ms,
    },
    outage: [...(is_failing === true ? ["failing" as const] : []), ...(is_disabled ? ["disabled" as const] : [])],
  }));
}
