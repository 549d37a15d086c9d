import { type EventId, firstUuidAt, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { firstUuid } from "../sql/newest-in.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * Returns the SQL for the positions (events up to which a replay has progressed) of a project's unfinished replays. `condition`: SQL
 * condition on the replay's subscription.
 */
const unfinishedReplays = (condition: string) =>
  `(select position_event_id from replays where project_id = $1::uuid and ${condition} and ended_at is null offset 0)`;

/**
 * Finds the next events of a project that may be deleted, and locks them. Skips events that another transaction has locked. An event stays
 * if a delivery, a schedule, a replay or a backfill still needs it.
 * - All events after the position of an unfinished replay or backfill stay.
 * - A replay to the subscription of one entity keeps only the events of this entity.
 */
const lockEvents = statement<{ id: string }>(
  "lock_swept_events",
  // `offset 0` makes PostgreSQL look up by key what each event waits for. A project may have 100,000 unfinished replays, one for each
  // customer that has paused its subscription. So the statement reads only replays that may concern the event.
  `with entities as materialized (
    select exists (select from routing_shards where project_id = $1::uuid and subscriptions > 0) as are_subscribed
  )
  select e.id from events e
   where e.project_id = $1::uuid and e.id > $5::uuid and e.id < least($2::uuid, (
       select case when are_subscribed then (
           select min(r.position_event_id::text)::uuid from (
             ${unfinishedReplays("subscription_id is null")}
             union all
             select p.position_event_id from subscriptions s cross join lateral ${unfinishedReplays("subscription_id = s.id")} p
             where s.project_id = $1::uuid and s.entity_id = '') r)
         else (
           select min(r.position_event_id::text)::uuid from replays r where r.project_id = $1::uuid and r.ended_at is null
             and (r.subscription_id is null or exists (select from subscriptions where id = r.subscription_id offset 0))) end
       from entities), (
       select b.position_event_id from standing_backfills b
       where b.project_id = $1::uuid and b.ended_at is null and b.position_event_id is not null
       order by b.project_id, b.position_event_id limit 1))
     and not (e.entity_id <> '' and (select are_subscribed from entities) and exists (
       select from subscriptions s cross join lateral ${unfinishedReplays("subscription_id = s.id")} r
       where s.project_id = e.project_id and s.entity_id = e.entity_id and s.entity_id <> '' and r.position_event_id <= e.id offset 0))
     and not (e.kind = 'swept' and e.id >= $4::uuid)
     and not exists (select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and d.state = 'pending' offset 0)
     and not exists (select from standing_arrivals a
       where a.due_at = e.received_at and a.project_id = e.project_id and a.event_id = e.id offset 0)
     and not exists (select from standing_run_events i cross join lateral (
         select state from standing_runs where id = i.run_id offset 0) r
       where i.event_id = e.id and r.state in ('collecting', 'closing') offset 0)
   order by e.id limit $3::int4 for update skip locked`,
);

/**
 * Deletes locked events and their deliveries. An event with a pending delivery is not changed, because a delivery may have been queued just
 * before the event was locked. If svc must still recognize a repeated event by its dedupe key, the row stays without its payload. Its kind
 * is then `swept`.
 */
const sweepEvents = statement<{ id: string }>(
  "sweep_events",
  `with picked as materialized (
    select e.id, e.dedupe_key <> '' and e.id >= $3::uuid as remembered from events e
    where e.project_id = $1::uuid and e.id = any($2::uuid[])
      and not exists (select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and d.state = 'pending')
  ), gone_deliveries as (
    delete from deliveries d using picked p where d.project_id = $1::uuid and d.event_id = p.id
  ), emptied as (
    update events e set kind = 'swept', payload = '' from picked p
    where e.project_id = $1::uuid and e.id = p.id and p.remembered
  )
  delete from events e using picked p where e.project_id = $1::uuid and e.id = p.id and not p.remembered`,
);

/** The times before which a sweep deletes a project's events. Times are in epoch milliseconds. */
export type EventRetention = {
  /** Events received before this time are deleted. */
  beforeMs: number;
  /** Dedupe keys of events that were received at this time or later stay. */
  rememberFromMs: number;
};

/** Events of a project that one batch of a sweep deleted: their number, and the last of them. `last` is undefined if there was none. */
export type SweptEvents = { readonly count: number; readonly last: EventId | undefined };

/**
 * Deletes at most `limit` expired events of one project, oldest first. `after`: last event of the previous batch, so that events which must
 * stay are not read again; undefined for the first batch.
 */
export async function sweepProjectEvents(
  db: Executor,
  projectId: ProjectId,
  retention: EventRetention,
  { limit, after }: { readonly limit: number; readonly after?: EventId | undefined },
): Promise<SweptEvents> {
  const project = uuidOfId(projectId);
  const rememberFrom = firstUuidAt(retention.rememberFromMs);
  const from = after === undefined ? firstUuid : uuidOfId(after);
  return withTransaction(db, async (tx) => {
    const locked = await lockEvents(tx, [project, firstUuidAt(retention.beforeMs), limit, rememberFrom, from]);
    const ids = locked.map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return { count: 0, last };
    await sweepEvents(tx, [project, arrayLiteral(ids), rememberFrom]);
    return { count: ids.length, last: idOfUuid("evt", last) };
  });
}
