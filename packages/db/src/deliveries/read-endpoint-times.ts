import { idOfUuid, isoTime, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { attemptLogDocument } from "../documents/calls.ts";
import { subscriptions } from "../schema/triggers.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { liveEpochs, pacedFront, readyEpochs } from "./epoch.ts";

/** Results of the latest attempts to deliver to one endpoint. */
export type EndpointTimes = {
  /** Durations of the latest attempts of up to 20 deliveries, milliseconds, shortest first. */
  readonly durationsMs: readonly number[];
  /** Error of the latest failed attempt among the deliveries that were read for this endpoint. Empty if no attempt failed. */
  readonly lastError: string;
};

/** Reads the latest attempts for the newest 20 deliveries of each subscription, and for the first 5 in its queue. */
const selectAttempts = statement<{ subscription_id: string; attempts: unknown }>(
  "read_endpoint_times",
  // While an endpoint fails, svc tries only the first deliveries in the queue.
  `select u.id as subscription_id, a.attempts
   from unnest($2::uuid[]) u(id) cross join lateral (
     select jsonb_agg(n.attempt_log -> -1) as attempts from (
       select d.id, d.attempt_log from (
         select l.id, l.attempt_log from deliveries l where l.project_id = $1::uuid and l.subscription_id = u.id
         order by l.project_id desc, l.subscription_id desc, l.id desc limit 20) d
       union
       select t.delivery_id, d.attempt_log from (
         select t.delivery_id from delivery_tasks t where t.epoch = any${liveEpochs} and t.subscription_id = u.id
         order by t.due_at limit 5) t cross join lateral (select l.attempt_log from deliveries l where l.id = t.delivery_id offset 0) d
     ) n where jsonb_array_length(n.attempt_log) > 0) a
   where a.attempts is not null`,
);

/**
 * The facts about an endpoint that can delay its deliveries: it is inactive, it fails and is in backoff, or its pace (limit of attempts) is
 * reached.
 */
export type DeliveryEndpoint = Pick<
  typeof subscriptions.$inferSelect,
  "id" | "active" | "failingSince" | "backoffUntil"
> & {
  /**
   * Time from which the subscription's pace (its limit of deliveries per time) lets the next attempt start, epoch milliseconds. Undefined
   * if the subscription has no pace.
   */
  readonly pacedUntil: number | undefined;
  /** True if the subscription already has as many attempts in flight as its pace (its limit of attempts at the same time) allows. */
  readonly isPaceFull: boolean;
  /** Waits between the attempts of the subscription's own retry schedule, milliseconds. Undefined if the deployment's schedule applies. */
  readonly scheduleMs: readonly number[] | undefined;
};

const endpointColumns = selectList(subscriptions, ["id", "active", "failingSince", "backoffUntil"], "s");

/**
 * Reads the state of endpoints from their subscriptions. Finds each subscription by its primary key. Endpoints that receive questions to
 * people are rows of the same table, so the statement finds them as well. For a subscription with a pace, it counts the tasks that nodes
 * are sending now; they are at the front of the queue.
 */
const selectEndpoints = statement<
  RawRow<Omit<DeliveryEndpoint, "pacedUntil" | "isPaceFull" | "scheduleMs">> & {
    paced_at: string | null;
    is_full: boolean | null;
    schedule_ms: number[] | null;
  }
>(
  "find_delivery_endpoints",
  `select ${endpointColumns.text}, s.settings #> '{retry,scheduleMs}' as schedule_ms,
     case when s.settings ? 'pace' then (select p.at from subscription_paces p where p.subscription_id = s.id) end as paced_at,
     case when s.settings -> 'pace' ? 'concurrency' then (select count(*) from delivery_tasks t
       where t.epoch = any${readyEpochs} and t.subscription_id = s.id and t.due_at = ${pacedFront} and t.lease_until > $3::timestamptz)
       >= (s.settings -> 'pace' ->> 'concurrency')::int4 end as is_full
   from unnest($2::uuid[]) u(id)
   cross join lateral (select * from subscriptions where id = u.id offset 0) s where s.project_id = $1::uuid`,
);

/** Returns the endpoints of a project's deliveries, by subscription id. Deleted subscriptions have no entry. `nowMs`: the present time. */
export async function findDeliveryEndpoints(
  db: Executor,
  projectId: ProjectId,
  ids: readonly SubscriptionId[],
  nowMs: number,
): Promise<ReadonlyMap<SubscriptionId, DeliveryEndpoint>> {
  if (ids.length === 0) return new Map();
  const uuids = arrayLiteral([...new Set(ids)].map(uuidOfId));
  const rows = await selectEndpoints(db, [uuidOfId(projectId), uuids, isoTime(nowMs)]);
  return new Map(
    rows.map(({ paced_at: at, is_full, schedule_ms: scheduleMs, ...row }) => {
      const endpoint = endpointColumns.read(row);
      const pacedUntil = at === null ? undefined : Math.ceil(Number(at) / 1_000);
      return [
        endpoint.id,
        { ...endpoint, pacedUntil, isPaceFull: is_full === true, scheduleMs: scheduleMs ?? undefined },
      ];
    }),
  );
}

const measuredMax = 20;

/** Returns the durations and errors of the latest attempts for each subscription's endpoint. A subscription without an attempt is absent. */
export async function readEndpointTimes(
  db: Executor,
  projectId: ProjectId,
  ids: readonly SubscriptionId[],
): Promise<ReadonlyMap<SubscriptionId, EndpointTimes>> {
  if (ids.length === 0) return new Map();
  const rows = await selectAttempts(db, [uuidOfId(projectId), arrayLiteral(ids.map(uuidOfId))]);
  return new Map(
    rows.map(({ subscription_id: id, attempts }) => {
      const latest = attemptLogDocument
        .read(attempts)
        .toSorted((a, b) => b.startedAt - a.startedAt)
        .slice(0, measuredMax);
      const durationsMs = latest.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
      return [idOfUuid("sub", id), { durationsMs, lastError: latest.find(({ error }) => error !== "")?.error ?? "" }];
    }),
  );
}
