import { firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/**
 * Removes a batch of a project's settled events with their deliveries and attempts. An event with a pending delivery
 * stays whole. Rows are found from the old end of the primary key and locked with SKIP LOCKED: a sweep never waits.
 */
const sweepEvents = statement<{ id: string }>(
  "sweep_events",
  `with picked as materialized (
    select e.id from events e where e.project_id = $1::uuid and e.id < $2::uuid
      and not exists (select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and d.state = 'pending')
    order by e.id limit $3::int4 for update skip locked
  ), gone_deliveries as (
    delete from deliveries d using picked p where d.project_id = $1::uuid and d.event_id = p.id returning d.id
  ), gone_attempts as (
    delete from delivery_attempts a using gone_deliveries d where a.project_id = $1::uuid and a.delivery_id = d.id
  )
  delete from events e using picked p where e.project_id = $1::uuid and e.id = p.id
  returning e.id`,
);

/** The block range index on seen_at narrows this to the oldest blocks. */
const sweepDedupeKeys = statement<{ key: string }>(
  "sweep_dedupe_keys",
  `delete from dedupe_keys where ctid = any(array(
     select ctid from dedupe_keys where seen_at < $1::timestamptz limit $2::int4))
   returning key`,
);

const sweepQuarantine = statement<{ id: string }>(
  "sweep_quarantined_posts",
  `delete from quarantined_posts where id in (select id from quarantined_posts where id < $1::uuid order by id limit $2::int4 for update skip locked)
   returning id`,
);

/** Removes up to `limit` events of one project received before `beforeMs`; returns how many. */
export async function sweepProjectEvents(
  db: Executor,
  projectId: ProjectId,
  beforeMs: number,
  limit: number,
): Promise<number> {
  return (await sweepEvents(db, [uuidOfId(projectId), firstUuidAt(beforeMs), limit])).length;
}

/** Removes up to `limit` dedupe keys seen before `beforeMs`; returns how many. */
export async function sweepSeenKeys(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepDedupeKeys(db, [new Date(beforeMs).toISOString(), limit])).length;
}

/** Removes up to `limit` quarantined posts received before `beforeMs`, released or not; returns how many. */
export async function sweepQuarantinedPosts(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepQuarantine(db, [firstUuidAt(beforeMs), limit])).length;
}
