import { type DeliveryId, type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { statement } from "../statement.ts";

/** A delivery of an event that is stored already. */
export type QueuedDelivery = { id: DeliveryId; eventId: EventId; subscriptionId: SubscriptionId };

const chunkSize = 5_000;

/**
 * Unleased, due at once: any node claims it. Events are locked against the sweep, which takes FOR UPDATE: a delivery never
 * outlives its event. One that a sweep is removing is waited for, and then left out. Served by events_key.
 */
const enqueueDeliveries = statement<{ id: string }>(
  "enqueue_deliveries",
  `with input as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as i(id, event_id, subscription_id)
  ), held as materialized (
    select i.id, i.event_id, i.subscription_id from input i
    join events e on e.project_id = $4::uuid and e.id = i.event_id and e.kind in ('event', 'test')
    for key share of e
  ), stored as (
    insert into deliveries (project_id, id, event_id, subscription_id, state, replayed, next_attempt_at)
    select $4::uuid, id, event_id, subscription_id, 'pending', true, $5::timestamptz from held
  ), queued as (
    insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at)
    select id, $4::uuid, subscription_id, event_id, $5::timestamptz from held
  )
  select i.id from input i where not exists (select from held h where h.id = i.id)`,
);

/** Stores fresh deliveries of stored events, marked as replayed, all or none. Returns those whose event is gone: they are not stored. */
export function enqueue(
  db: Executor,
  projectId: ProjectId,
  deliveries: readonly QueuedDelivery[],
  dueAtMs: number,
): Promise<Set<DeliveryId>> {
  return withTransaction(db, async (tx) => {
    const gone = new Set<DeliveryId>();
    for (let start = 0; start < deliveries.length; start += chunkSize) {
      const chunk = deliveries.slice(start, start + chunkSize);
      const rows = await enqueueDeliveries(tx, [
        arrayLiteral(chunk.map((delivery) => uuidOfId(delivery.id))),
        arrayLiteral(chunk.map((delivery) => uuidOfId(delivery.eventId))),
        arrayLiteral(chunk.map((delivery) => uuidOfId(delivery.subscriptionId))),
        uuidOfId(projectId),
        new Date(dueAtMs).toISOString(),
      ]);
      for (const { id } of rows) gone.add(idOfUuid("dlv", id));
    }
    return gone;
  });
}
