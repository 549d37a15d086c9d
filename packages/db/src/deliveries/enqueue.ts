import { type DeliveryId, type EventId, idOfUuid, type ProjectId, type SubscriptionId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { deliveries } from "../schema/triggers.ts";
import { bool, fieldsOf, idOf, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/parts.ts";
import { epochOf } from "./epoch.ts";

/** A delivery of an event that is stored already. */
export type QueuedDelivery = { id: DeliveryId; eventId: EventId; subscriptionId: SubscriptionId };

const chunkSize = 5_000;

/**
 * Unleased, due at once: any node claims it. Events are locked against the sweep, which takes FOR UPDATE: a delivery never
 * outlives its event. One that a sweep is removing is waited for, and then left out. Served by events_key: `offset 0`
 * looks each up, where a join was planned through all events of the project.
 */
const enqueue = compose(
  "enqueue_deliveries",
  {
    queued: rows({ ...fieldsOf(deliveries, "id", "eventId", "subscriptionId"), dueAt: timestamptz }),
    to: values({ projectId: idOf("prj"), behind: bool }),
  },
  ({ queued, to }) => query<{ id: string }>`with input as materialized (
    select * from ${queued.from("i")}
  ), held as materialized (
    select i.id, i.event_id, i.subscription_id, i.due_at from input i cross join lateral (
      select from events e where e.project_id = ${to.projectId} and e.id = i.event_id and e.kind in ('event', 'test')
      offset 0 for key share) e
  ), stored as (
    insert into deliveries (project_id, id, event_id, subscription_id, state, replayed, next_attempt_at)
    select ${to.projectId}, id, event_id, subscription_id, 'pending', true, due_at from held
  ), queued as (
    insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, epoch)
    select id, ${to.projectId}, subscription_id, event_id, due_at, ${epochOf(to.behind)} from held
  )
  select i.id from input i where not exists (select from held h where h.id = i.id)`,
);

/**
 * For whom deliveries are queued, and when they are due: at once, or one after the other over `spreadMs`. `behind`: after all that is
 * live, as a paced replay's are.
 */
export type QueueTo = {
  readonly projectId: ProjectId;
  readonly dueAtMs: number;
  readonly behind: boolean;
  /** Default 0. */
  readonly spreadMs?: number;
};

/** Stores fresh deliveries of stored events, marked as replayed, all or none. Returns those whose event is gone: they are not stored. */
export function enqueueDeliveries(
  db: Executor,
  { projectId, dueAtMs, behind, spreadMs = 0 }: QueueTo,
  fresh: readonly QueuedDelivery[],
): Promise<Set<DeliveryId>> {
  return withTransaction(db, async (tx) => {
    const gone = new Set<DeliveryId>();
    for (let start = 0; start < fresh.length; start += chunkSize) {
      const queued = fresh.slice(start, start + chunkSize).map((delivery, index) => {
        return { ...delivery, dueAt: dueAtMs + Math.floor(((start + index) * spreadMs) / fresh.length) };
      });
      for (const { id } of await enqueue(tx, { queued, to: { projectId, behind } })) gone.add(idOfUuid("dlv", id));
    }
    return gone;
  });
}
