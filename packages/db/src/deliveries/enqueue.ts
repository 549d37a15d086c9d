import { type DeliveryId, type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { deliveries } from "../schema/triggers.ts";
import { bool, fieldsOf, idOf, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { epochOf } from "./epoch.ts";

/** A delivery of an event that is stored already. */
type QueuedDelivery = { id: DeliveryId; eventId: EventId; subscriptionId: SubscriptionId };

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
type QueueTarget = {
  readonly projectId: ProjectId;
  readonly dueAtMs: number;
  readonly behind: boolean;
  /** Default 0. */
  readonly spreadMs?: number;
};

/** Stores fresh deliveries of stored events, marked as replayed, all or none. Returns those whose event is gone: they are not stored. */
export function enqueueDeliveries(
  db: Executor,
  { projectId, dueAtMs, behind, spreadMs = 0 }: QueueTarget,
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

/** Names a task, by the key of its row, and the lease of it: a node that claims a task again holds another lease. */
export type DeliveryTaskKey = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  queuedForMs: number;
  leaseUntilMs: number;
  /** Whether it stands behind what is live: a paced replay queued it, and it was not tried yet. */
  behind: boolean;
};

/** A task's key among a statement's parameters. */
export const taskKeyFields = {
  id: idOf("dlv"),
  subscriptionId: idOf("sub"),
  queuedForMs: timestamptz,
  leaseUntilMs: timestamptz,
  behind: bool,
};

/**
 * Whether a row `t` of delivery_tasks is the one that a row `i` of `taskKeyFields` names, and still under that lease. Where there are
 * many, the epoch is a column of theirs: beside a constant, the planner would rather read the whole of it.
 */
export function isHeldBy(owner: string, epoch = epochOf("i.behind")): string {
  return `t.epoch = ${epoch} and t.subscription_id = i.subscription_id and t.due_at = i.queued_for_ms and t.delivery_id = i.id
      and t.lease_owner = ${owner} and t.lease_until = i.lease_until_ms`;
}

/** Served by deliveries_event, which the event of each is looked up in: its few deliveries are then filtered, so that no other index fits. */
const countLater = statement<{ count: number }>(
  "count_superseded_deliveries",
  `select count(*)::int4 as count from unnest($2::uuid[], $3::uuid[], $4::uuid[]) as e(id, event_id, subscription_id)
     cross join lateral (
       select 1 from (select id, subscription_id from deliveries where project_id = $1::uuid and event_id = e.event_id offset 0) d
       where d.subscription_id = e.subscription_id and d.id > e.id limit 1) later`,
);

/** How many of these deliveries have a later one of the same event to the same subscription, as a replay makes it. */
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
