import type { TestServer } from "@svc/testing/server";

/**
 * Copies the one event of a project, with its deliveries, `count` times. The copies are `everyMs` apart, and the last one happened `endMs`
 * ago. They are written to the store in one statement for each table.
 */
export async function copyEvents(
  { database }: TestServer,
  { count, everyMs, endMs }: { count: number; everyMs: number; endMs: number },
): Promise<void> {
  await database.db.sql`
    with model as (
      select e.*, d.subscription_id, d.state, d.attempts, d.last_error, d.attempt_log
      from events e join deliveries d on d.project_id = e.project_id and d.event_id = e.id order by e.id, d.id limit 1
    ), times as (
      select n, (extract(epoch from clock_timestamp()) * 1000)::int8 - ${endMs}::int8 - (${count}::int8 - n) * ${everyMs}::int8 as ms
      from generate_series(1, ${count}::int8) n
    ), copies as materialized (
      select n, to_timestamp(ms / 1000.0) as at,
        (lpad(to_hex(ms), 12, '0') || '7' || substr(md5('event' || n || ms), 1, 3) || '8' || substr(md5('event' || n || ms), 4, 15))::uuid as event_id,
        (lpad(to_hex(ms + 1), 12, '0') || '7' || substr(md5('delivery' || n || ms), 1, 3) || '8' || substr(md5('delivery' || n || ms), 4, 15))::uuid as delivery_id
      from times
    ), stored as (
      insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
      select project_id, c.event_id, kind, toolkit_slug, trigger_slug, entity_id, payload, c.at, c.at, ''
      from copies c, model
    )
    insert into deliveries (project_id, id, event_id, subscription_id, state, attempts, last_error, last_attempt_at, attempt_log)
    select project_id, c.delivery_id, c.event_id, subscription_id, state, attempts, last_error, c.at, attempt_log
    from copies c, model`;
}
