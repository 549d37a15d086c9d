import { type DeliveryId, type EventId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

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
