import { firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/**
 * Removes a batch of a project's settled events with their deliveries. An event with a pending delivery stays whole; one
 * whose dedupe key must be remembered longer is emptied and stays as `swept`. Rows are found from the old end of the
 * primary key and locked with SKIP LOCKED: a sweep never waits.
 */
const sweepEvents = statement<{ id: string }>(
  "sweep_events",
  `with picked as materialized (
    select e.id, e.dedupe_key <> '' and e.id >= $4::uuid as remembered from events e
    where e.project_id = $1::uuid and e.id < $2::uuid and not (e.kind = 'swept' and e.id >= $4::uuid)
      and not exists (select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and d.state = 'pending')
    order by e.id limit $3::int4 for update skip locked
  ), gone_deliveries as (
    delete from deliveries d using picked p where d.project_id = $1::uuid and d.event_id = p.id
  ), emptied as (
    update events e set kind = 'swept', payload = '' from picked p
    where e.project_id = $1::uuid and e.id = p.id and p.remembered
  ), gone as (
    delete from events e using picked p where e.project_id = $1::uuid and e.id = p.id and not p.remembered
  )
  select id from picked`,
);

const sweepQuarantine = statement<{ id: string }>(
  "sweep_quarantined_posts",
  `delete from quarantined_posts where id in (select id from quarantined_posts where id < $1::uuid order by id limit $2::int4 for update skip locked)
   returning id`,
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
  const bounds = [firstUuidAt(retention.beforeMs), limit, firstUuidAt(retention.rememberFromMs)];
  return (await sweepEvents(db, [uuidOfId(projectId), ...bounds])).length;
}

/** Removes up to `limit` quarantined posts received before `beforeMs`, released or not; returns how many. */
export async function sweepQuarantinedPosts(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepQuarantine(db, [firstUuidAt(beforeMs), limit])).length;
}
