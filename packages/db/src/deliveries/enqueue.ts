import { type DeliveryId, type EventId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { statement } from "../statement.ts";

/** A delivery of an event that is stored already. */
export type QueuedDelivery = { id: DeliveryId; eventId: EventId; subscriptionId: SubscriptionId };

const chunkSize = 5_000;

/** Unleased, due at once: any node claims it. */
const enqueueDeliveries = statement<{ id: string }>(
  "enqueue_deliveries",
  `with input as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as i(id, event_id, subscription_id)
  ), stored as (
    insert into deliveries (project_id, id, event_id, subscription_id, state, replayed, next_attempt_at)
    select $4::uuid, id, event_id, subscription_id, 'pending', true, $5::timestamptz from input
  )
  insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at)
  select id, $4::uuid, subscription_id, event_id, $5::timestamptz from input`,
);

/** Stores fresh deliveries of stored events, marked as replayed, all or none. */
export function enqueue(
  db: Executor,
  projectId: ProjectId,
  deliveries: readonly QueuedDelivery[],
  dueAtMs: number,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    for (let start = 0; start < deliveries.length; start += chunkSize) {
      const chunk = deliveries.slice(start, start + chunkSize);
      await enqueueDeliveries(tx, [
        arrayLiteral(chunk.map((delivery) => uuidOfId(delivery.id))),
        arrayLiteral(chunk.map((delivery) => uuidOfId(delivery.eventId))),
        arrayLiteral(chunk.map((delivery) => uuidOfId(delivery.subscriptionId))),
        uuidOfId(projectId),
        new Date(dueAtMs).toISOString(),
      ]);
    }
  });
}
