import { firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * Finds a batch of settled events (events without pending work) among a project's oldest events, and locks them with SKIP LOCKED.
 * - A sweep (the deletion of old events) never waits for a lock. A replay waits until the sweep ends (see `enqueue`).
 * - `offset 0` makes PostgreSQL look up three things by key for each event: its deliveries, its row in the inbox of schedules, and the
 *   collect windows that contain it.
 * - An event stays if a throttled replay or a backfill still has to process it. All later events then stay too.
 * - The index replays_unfinished finds the few unfinished replays of a project. The index standing_backfills_unreached finds the backfill
 *   with the oldest position.
 */
const lockEvents = statement<{ id: string }>(
  "lock_swept_events",
  `select e.id from events e
   where e.project_id = $1::uuid and e.id < least($2::uuid, (
       select min(r.position_event_id::text)::uuid from replays r where r.project_id = $1::uuid and r.ended_at is null), (
       select b.position_event_id from standing_backfills b
       where b.project_id = $1::uuid and b.ended_at is null and b.position_event_id is not null
       order by b.project_id, b.position_event_id limit 1))
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

/** Retention of a project's events. Times are in epoch milliseconds. */
export type EventRetention = {
  /** Events received before this time are deleted. */
  beforeMs: number;
  /** Dedupe keys of events that were received at this time or later stay. */
  rememberFromMs: number;
};

/** Deletes at most `limit` events of one project. Returns the number of deleted events. */
export async function sweepProjectEvents(
  db: Executor,
  projectId: ProjectId,
  retention: EventRetention,
  limit: number,
): Promise<number> {
  const project = uuidOfId(projectId);
  const rememberFrom = firstUuidAt(retention.rememberFromMs);
  return withTransaction(db, async (tx) => {
    const locked = await lockEvents(tx, [project, firstUuidAt(retention.beforeMs), limit, rememberFrom]);
    if (locked.length > 0) await sweepEvents(tx, [project, arrayLiteral(locked.map(({ id }) => id)), rememberFrom]);
    return locked.length;
  });
}
