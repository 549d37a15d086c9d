import { firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * Finds a batch of a project's settled events from the old end of the primary key, and locks it with SKIP LOCKED: a sweep
 * never waits, and a replay waits for it (see enqueue). `offset 0` looks the deliveries of each event up, and whether
 * standing programs have not decided about it, or collect it: by the keys of arrivals and of the events of windows. What a paced
 * replay or a backfill has yet to reach stays, and with it what came after: the few replays of a project that are not at their end are
 * found by replays_unfinished, and the backfill that is the furthest behind by standing_backfills_unreached.
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
 * Removes locked events with their deliveries. An event with a pending delivery stays whole: one may have been queued
 * between the snapshot that found it and the lock. One whose dedupe key must be remembered longer is emptied and stays
 * as `swept`.
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

/** What retention keeps of a project's events. Times in epoch milliseconds. */
export type EventRetention = {
  /** Events received before this go. */
  beforeMs: number;
  /** Dedupe keys of events received at this time or later stay. */
  rememberFromMs: number;
};

/** Removes up to `limit` events of one project; returns how many. */
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
