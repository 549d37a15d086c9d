import { type DeliveryId, idOfUuid, type NodeId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type AttemptEntry, attemptDocument } from "../documents/calls.ts";
import { deliveries, subscriptions } from "../schema/triggers.ts";
import { fieldsOf, idOf, int4, json, type Row, text, timestamptz, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList, values } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { type DeliveryTaskKey, isHeldBy, taskKeyFields } from "./enqueue.ts";
import { epochOf } from "./epoch.ts";

/** Result of one attempt of a delivery, and the new state of the delivery. It also identifies the task that the node held. */
export type DeliverySettlement = DeliveryTaskKey & {
  projectId: ProjectId;
  state: "pending" | "delivered" | "dead_letter";
  /** Time of the next attempt, epoch milliseconds. Used only if the new state is `pending`. */
  dueAtMs: number;
  attempt: AttemptEntry;
};

const settledFields = {
  ...taskKeyFields,
  ...fieldsOf(deliveries, "state"),
  dueAtMs: timestamptz,
  step: int4,
  error: text,
  startedAt: timestamptz,
  attempt: json(attemptDocument),
};

/**
 * Stores the results of delivery attempts and the new states of the deliveries. Returns the deliveries whose lease this node has lost.
 * Nothing is stored for them.
 */
const settle = compose(
  "settle_deliveries",
  // A delivery of an inactive subscription stays in its part of the queue, and expires there. The update of `deliveries` changes no index,
  // because no index of that table has a changed column. `deliveries` counts every attempt, `delivery_tasks` only those of the retry
  // schedule. A delivery that is to be tried again waits in epoch 0 until it is due.
  { settled: rows(settledFields), by: values({ owner: idOf("node") }) },
  ({ settled, by }) => query<{ delivery_id: string }>`with input as materialized (
    select *, ${epochOf("i.behind")} as epoch from ${settled.from("i")}
  ), ended as (
    delete from delivery_tasks t using input i where ${isHeldBy(by.owner, "i.epoch")} and i.state <> 'pending'
    returning t.delivery_id
  ), rescheduled as (
    update delivery_tasks t set due_at = i.due_at_ms, attempts = i.step, lease_owner = null, lease_until = null,
      epoch = case when exists (select from subscriptions s where s.id = t.subscription_id and s.active) then 0 else t.epoch end
    from input i
    where ${isHeldBy(by.owner, "i.epoch")} and i.state = 'pending'
    returning t.delivery_id
  ), held as materialized (
    select delivery_id from ended union all select delivery_id from rescheduled
  ), changed as (
    update deliveries d set state = i.state, attempts = d.attempts + 1, last_error = i.error, last_attempt_at = i.started_at,
      next_attempt_at = case when i.state = 'pending' then i.due_at_ms end, attempt_log = d.attempt_log || i.attempt
    from input i join held h on h.delivery_id = i.id
    where d.id = i.id
  )
  select i.id as delivery_id from input i where not exists (select from held h where h.delivery_id = i.id)`,
);

/**
 * Stores the results of ended delivery attempts (`settlements`) in one commit. Returns the ids of deliveries whose lease (right to send)
 * this node has lost. Nothing is written for these deliveries.
 */
export async function settleDeliveries(
  db: Executor,
  owner: NodeId,
  settlements: readonly DeliverySettlement[],
): Promise<DeliveryId[]> {
  const lost = await settle(db, { settled: settlements.map(rowOf), by: { owner } });
  return lost.map((row) => idOfUuid("dlv", row.delivery_id));
}

const deadSubscription = selectList(
  subscriptions,
  ["id", "projectId", "endpointUrl", "toolkitSlug", "triggerSlug", "entityId"],
  "s",
);

/** A delivery that svc gave up (state `dead_letter`), with its subscription and the error of its last attempt. */
export type DeadDelivery = Readonly<
  Row<typeof subscriptions, "projectId" | "endpointUrl" | "toolkitSlug" | "triggerSlug" | "entityId">
> & { readonly deliveryId: DeliveryId; readonly subscriptionId: SubscriptionId; readonly lastError: string };

/** Finds deliveries that became `dead_letter`, with the data of their subscriptions, for the events that report this. Uses primary keys. */
const selectDead = statement<
  RawRow<Row<typeof subscriptions, "id" | "projectId" | "endpointUrl" | "toolkitSlug" | "triggerSlug" | "entityId">> & {
    delivery_id: string;
    last_error: string;
  }
>(
  "find_dead_deliveries",
  `select d.id as delivery_id, d.last_error, ${deadSubscription.text}
   from deliveries d join events e on e.project_id = d.project_id and e.id = d.event_id join subscriptions s on s.id = d.subscription_id
   where d.id = any($1::uuid[]) and e.kind = 'event' and e.toolkit_slug <> 'svc' and s.kind = 'events' order by d.id`,
);

/**
 * `ids`: deliveries in the state `dead_letter`. Returns those that carry events of apps, each with its subscription. Leaves out deliveries
 * of test events, operational events and questions.
 */
export async function findDeadDeliveries(db: Executor, ids: readonly DeliveryId[]): Promise<DeadDelivery[]> {
  const found = await selectDead(db, [arrayLiteral(ids.map(uuidOfId))]);
  return found.map(({ delivery_id, last_error: lastError, ...row }) => {
    const { id: subscriptionId, ...subscription } = deadSubscription.read(row);
    return { ...subscription, subscriptionId, deliveryId: idOfUuid("dlv", delivery_id), lastError };
  });
}

function rowOf(settlement: DeliverySettlement): ValuesOf<typeof settledFields> {
  const { id, subscriptionId, queuedForMs, leaseUntilMs, behind, state, dueAtMs, attempt } = settlement;
  const { number, error, startedAt } = attempt;
  return {
    id,
    subscriptionId,
    queuedForMs,
    leaseUntilMs,
    behind,
    state,
    dueAtMs,
    step: number,
    error,
    startedAt,
    attempt,
  };
}
