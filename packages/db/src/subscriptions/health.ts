import { idOfUuid, type SubscriptionId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/** The failed attempts of one subscription in one batch. */
export type FailureReport = {
  subscriptionId: SubscriptionId;
  /** Start of the latest of them. */
  startedAtMs: number;
  /** What Retry-After asked for; 0 when it did not. */
  retryAfterMs: number;
  /** Answers of 410 among them, when all were; 0 otherwise. */
  goneCount: number;
};

/** Bounds of the backoff and of giving up. */
export type HealthLimits = {
  backoffMinMs: number;
  backoffMaxMs: number;
  failingMaxMs: number;
  goneMaxMs: number;
  goneMin: number;
};

/** The health of a subscription after a report. */
export type Health = { subscriptionId: SubscriptionId; active: boolean; backoffUntilMs: number };

/**
 * Backs failing subscriptions off and gives up on dead ones. The backoff doubles only for an attempt that began after it
 * was set: sixteen deliveries that fail together count once. Deactivation moves the project's routing version with it;
 * it is the one case that looks for a success another node may have had meanwhile (deliveries_subscription finds it).
 */
const recordFailures = statement<{ id: string; active: boolean; backoff_until_ms: number }>(
  "record_failures",
  `with input as materialized (
    select * from unnest($1::uuid[], $2::timestamptz[], $3::int4[], $4::int4[]) as i(id, started_at, retry_after_ms, gone)
  ), changed as (
    update subscriptions s set
      failing_since = coalesce(s.failing_since, i.started_at),
      backoff_set_at = case when n.grows then $5::timestamptz else s.backoff_set_at end,
      backoff_ms = case when n.grows then n.next_ms else s.backoff_ms end,
      backoff_until = greatest(
        case when n.grows then $5::timestamptz + n.next_ms * interval '1 millisecond' else s.backoff_until end,
        $5::timestamptz + i.retry_after_ms * interval '1 millisecond'),
      gone_since = case when i.gone > 0 then coalesce(s.gone_since, i.started_at) end,
      gone_count = case when i.gone > 0 then s.gone_count + i.gone else 0 end,
      active = s.active and not given_up.yes,
      inactive_reason = case when not s.active then s.inactive_reason
        when not given_up.yes then s.inactive_reason when n.is_gone then 'gone' else 'failing' end
    from input i, subscriptions old, lateral (select
      old.backoff_set_at is null or i.started_at > old.backoff_set_at as grows,
      least($7::int4, greatest($6::int4, old.backoff_ms * 2)) as next_ms,
      coalesce(i.gone > 0 and old.gone_count + i.gone >= $10::int4 and $5::timestamptz - old.gone_since >= $9::int4 * interval '1 millisecond', false) as is_gone,
      coalesce($5::timestamptz - old.failing_since >= $8::int4 * interval '1 millisecond', false) as is_dead) n,
    lateral (select case when n.is_gone or n.is_dead then not exists (
      select from deliveries d where d.project_id = old.project_id and d.subscription_id = old.id
        and d.state = 'delivered' and d.last_attempt_at > case when n.is_gone then old.gone_since else old.failing_since end)
      else false end as yes) given_up
    where s.id = i.id and old.id = s.id
    returning s.id, s.project_id, s.active, old.active as was_active, s.backoff_until
  ), moved as (
    update projects set routing_version = routing_version + 1
    where id in (select project_id from changed where was_active and not active)
  )
  select id, active, (extract(epoch from backoff_until) * 1000)::float8 as backoff_until_ms from changed`,
);

/** Writes what attempts that failed at `nowMs` say of their subscriptions, and returns the health that follows. */
export async function reportFailures(
  db: Executor,
  reports: readonly FailureReport[],
  nowMs: number,
  limits: HealthLimits,
): Promise<Health[]> {
  if (reports.length === 0) return [];
  // In one order on every node, so that two of them do not wait for each other's rows.
  const ordered = reports.toSorted((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1));
  const rows = await recordFailures(db, [
    arrayLiteral(ordered.map((report) => uuidOfId(report.subscriptionId))),
    arrayLiteral(ordered.map((report) => new Date(report.startedAtMs).toISOString())),
    arrayLiteral(ordered.map((report) => report.retryAfterMs)),
    arrayLiteral(ordered.map((report) => report.goneCount)),
    new Date(nowMs).toISOString(),
    limits.backoffMinMs,
    limits.backoffMaxMs,
    limits.failingMaxMs,
    limits.goneMaxMs,
    limits.goneMin,
  ]);
  return rows.map((row) => ({
    subscriptionId: idOfUuid("sub", row.id),
    active: row.active,
    backoffUntilMs: row.backoff_until_ms,
  }));
}

/** A success ends the backoff. Guarded, so that the endless successes of a healthy endpoint write nothing. */
const recordRecoveries = statement<{ id: string }>(
  "record_recoveries",
  `update subscriptions set failing_since = null, backoff_until = null, backoff_set_at = null, backoff_ms = 0, gone_since = null, gone_count = 0
   where id = any($1::uuid[]) and failing_since is not null`,
);

/** Opens the subscriptions again that delivered. */
export async function reportRecoveries(db: Executor, ids: readonly SubscriptionId[]): Promise<void> {
  if (ids.length > 0) await recordRecoveries(db, [arrayLiteral(ids.map(uuidOfId))]);
}
