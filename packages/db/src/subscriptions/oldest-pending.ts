import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { statement } from "../sql/statement.ts";

/** Tasks that are looked through. */
const lookedMax = 20_000;

/** By the key of tasks, in each of its epochs. */
const selectOldest = statement<{ event_id: string | null; is_whole: boolean }>(
  "find_oldest_pending_event",
  `with looked as materialized (
    select event_id from delivery_tasks where epoch = any${liveEpochs} and subscription_id = $1::uuid limit ${lookedMax}
  )
  select (select event_id from looked order by event_id limit 1) as event_id, (select count(*) from looked) < ${lookedMax} as is_whole`,
);

/** By deliveries_subscription, from the newest on, no further than 1,000. */
const selectError = statement<{ last_error: string }>(
  "find_last_delivery_error",
  `select d.last_error from (
     select project_id, subscription_id, id, last_error from deliveries
     where project_id = $1::uuid and subscription_id = $2::uuid
     order by project_id desc, subscription_id desc, id desc limit 1000) d
   where d.last_error <> '' order by d.id desc limit 1`,
);

/** The oldest event that is still to be delivered to a subscription; `unknown` where more is pending than is looked through. */
export async function findOldestPendingEvent(
  db: Executor,
  id: SubscriptionId,
): Promise<EventId | "unknown" | undefined> {
  const [row] = await selectOldest(db, [uuidOfId(id)]);
  if (row === undefined || !row.is_whole) return "unknown";
  return row.event_id === null ? undefined : idOfUuid("evt", row.event_id);
}

/** What the newest delivery that failed, of the newest 1,000 of a subscription, failed with; empty where none did. */
export async function findLastDeliveryError(db: Executor, projectId: ProjectId, id: SubscriptionId): Promise<string> {
  const [row] = await selectError(db, [uuidOfId(projectId), uuidOfId(id)]);
  return row?.last_error ?? "";
}
