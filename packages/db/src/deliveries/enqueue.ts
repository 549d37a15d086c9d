import { type DeliveryId, type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { deliveries } from "../schema/triggers.ts";
import { bool, fieldsOf, idOf, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { epochOf } from "./epoch.ts";

/** A delivery to queue; its event is already stored. */
type QueuedDelivery = { id: DeliveryId; eventId: EventId; subscriptionId: SubscriptionId };

const chunkSize = 5_000;

/**
 * Stores deliveries and their tasks. New tasks have no lease (no node holds them) and are due at once, so any node can take them.
 * - The statement locks the events, so that the deletion of old events cannot remove them: a delivery never outlives its event. If an event
 *   is already being deleted, the statement waits, and then omits the deliveries of this event.
 * - Uses the index events_key. `offset 0` makes PostgreSQL look each event up, because it otherwise planned a join through all events of
 *   the project.
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
 * Project and due times of deliveries to queue. If `spreadMs` is 0, all are due at `dueAtMs`. Otherwise they become due one after the other
 * during `spreadMs` after that time. `lowPriority`: true for throttled replays.
 */
type QueueTarget = {
  readonly projectId: ProjectId;
  readonly dueAtMs: number;
  readonly lowPriority: boolean;
  /**
   * Milliseconds during which the deliveries become due one after the other, beginning at `dueAtMs`. Default 0: all are due at the same
   * time.
   */
  readonly spreadMs?: number;
};

/**
 * Stores new deliveries of stored events in one statement, for a replay. Returns the deliveries that were not stored because their event is
 * deleted.
 */
export function enqueueDeliveries(
  db: Executor,
  { projectId, dueAtMs, lowPriority: behind, spreadMs = 0 }: QueueTarget,
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

/**
 * Identifies a task by the key of its row and by its lease (the time in which only one node works on a task). If a node claims the task
 * again, the task gets another lease, and this value no longer identifies it.
 */
export type DeliveryTaskKey = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  queuedForMs: number;
  leaseUntilMs: number;
  /** True if the task has low priority: a throttled replay queued it, and no attempt was made yet. */
  behind: boolean;
};

/**
 * The fields that identify a delivery task and its lease (one node's right to work on the task), each with its SQL type. Statements use them
 * to pass tasks as parameters.
 */
export const taskKeyFields = {
  id: idOf("dlv"),
  subscriptionId: idOf("sub"),
  queuedForMs: timestamptz,
  leaseUntilMs: timestamptz,
  behind: bool,
};

/**
 * Returns the SQL condition that the node `owner` still has the lease (time-limited right) of a delivery task. In this SQL, `t` is a row of
 * delivery_tasks, and `i` is the row with the task's key and lease.
 */
export function isHeldBy(owner: string, epoch = epochOf("i.behind")): string {
  // `epoch` must be a column if there are many tasks. With a constant, PostgreSQL may read all tasks of that epoch.
  return `t.epoch = ${epoch} and t.subscription_id = i.subscription_id and t.due_at = i.queued_for_ms and t.delivery_id = i.id
      and t.lease_owner = ${owner} and t.lease_until = i.lease_until_ms`;
}

/** Counts those of the given deliveries that a later delivery of a replay has replaced. */
const countLater = statement<{ count: number }>(
  "count_superseded_deliveries",
  // `offset 0` keeps PostgreSQL from using another index than deliveries_event.
  `select count(*)::int4 as count from unnest($2::uuid[], $3::uuid[], $4::uuid[]) as e(id, event_id, subscription_id)
     cross join lateral (
       select 1 from (select id, subscription_id from deliveries where project_id = $1::uuid and event_id = e.event_id offset 0) d
       where d.subscription_id = e.subscription_id and d.id > e.id limit 1) later`,
);

/**
 * Returns how many of the given deliveries were replaced. A delivery is replaced if a replay made a later delivery of the same event to the
 * same subscription.
 */
export async function countSuperseded(
  db: Executor,
  projectId: ProjectId,
  deliveries: readonly { id: DeliveryId; eventId: EventId; subscriptionId: SubscriptionId }[],
): Promise<number> {
  if (deliveries.length === 0) return 0;
  const [ids, events, subscriptions] = [
    deliveries.map(({ id }) => uuidOfId(id)),
    deliveries.map(({ eventId }) => uuidOfId(eventId)),
    deliveries.map(({ subscriptionId }) => uuidOfId(subscriptionId)),
  ];
  const lists = [ids, events, subscriptions].map(arrayLiteral);
  const [row] = await countLater(db, [uuidOfId(projectId), ...lists]);
  return row?.count ?? 0;
}
