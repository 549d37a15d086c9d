import { type EventId, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Number of an event's deliveries in each state. `more`: true if the event has more deliveries than were counted. */
export type DeliveryCounts = {
  readonly pending: number;
  readonly delivered: number;
  readonly deadLetter: number;
  readonly more: boolean;
};

/** Maximum deliveries counted for one event. For the largest page of events, this is 20,000 in all. */
const countedMax = 40;

/** Counts the deliveries of each event by the index deliveries_event. Counts at most `countedMax` deliveries of one event. */
const selectCounts = statement<{ event_id: string; pending: number; delivered: number; dead: number; seen: number }>(
  "count_event_deliveries",
  `select e.event_id, d.* from unnest($2::uuid[]) as e(event_id) cross join lateral (
     select count(*) filter (where n <= ${countedMax} and state = 'pending')::int4 as pending,
       count(*) filter (where n <= ${countedMax} and state = 'delivered')::int4 as delivered,
       count(*) filter (where n <= ${countedMax} and state = 'dead_letter')::int4 as dead, count(*)::int4 as seen
     from (select state, row_number() over () as n from (
       select state from deliveries where project_id = $1::uuid and event_id = e.event_id limit ${countedMax + 1}) first) numbered) d`,
);

/** Returns how many deliveries of each event are in each state. The key of the result is the event's id. */
export async function countDeliveriesOfEvents(
  db: Executor,
  projectId: ProjectId,
  eventIds: readonly EventId[],
): Promise<ReadonlyMap<EventId, DeliveryCounts>> {
  if (eventIds.length === 0) return new Map();
  const rows = await selectCounts(db, [uuidOfId(projectId), arrayLiteral(eventIds.map(uuidOfId))]);
  return new Map(
    rows.map(({ event_id: id, pending, delivered, dead, seen }) => [
      idOfUuid("evt", id),
      { pending, delivered, deadLetter: dead, more: seen > countedMax },
    ]),
  );
}

/** Summary of one event's deliveries: if one is `dead_letter`, if one is pending, and when the next attempt comes. */
export type EventDeliveries = {
  readonly eventId: EventId;
  readonly isDead: boolean;
  readonly isPending: boolean;
  /** Time of the earliest next attempt of a pending delivery, epoch milliseconds; null if no delivery is pending. */
  readonly nextAttemptAt: number | null;
};

/** Finds the deliveries of each event by the index deliveries_event, with one index lookup per event. */
const readDeliveries = statement<{ event_id: string; dead: boolean; pending: boolean; next_ms: number | null }>(
  "read_event_deliveries",
  `select e.event_id, d.* from unnest($2::uuid[]) as e(event_id) cross join lateral (
     select bool_or(state = 'dead_letter') as dead, bool_or(state = 'pending') as pending,
       (extract(epoch from min(next_attempt_at) filter (where state = 'pending')) * 1000)::float8 as next_ms
     from deliveries where project_id = $1::uuid and event_id = e.event_id having count(*) > 0) d`,
);

/** Returns a summary of the deliveries of each event. Events without deliveries are absent. */
export async function readEventDeliveries(
  db: Executor,
  projectId: ProjectId,
  eventIds: readonly EventId[],
): Promise<EventDeliveries[]> {
  if (eventIds.length === 0) return [];
  const rows = await readDeliveries(db, [uuidOfId(projectId), arrayLiteral(eventIds.map(uuidOfId))]);
  return rows.map(({ event_id: id, dead, pending, next_ms: nextMs }) => {
    return { eventId: idOfUuid("evt", id), isDead: dead, isPending: pending, nextAttemptAt: nextMs };
  });
}

/** Finds events by their primary key, with one index lookup for each. */
const readTriggers = statement<{ id: string; trigger_slug: string }>(
  "read_triggers_of_events",
  `select w.id, e.trigger_slug from unnest($2::uuid[]) as w(id) cross join lateral (
     select trigger_slug from events where project_id = $1::uuid and id = w.id offset 0) e`,
);

/** Returns the triggers of events, by event id. A test event has none, and a deleted event is absent. */
export async function readTriggersOfEvents(
  db: Executor,
  projectId: ProjectId,
  eventIds: readonly EventId[],
): Promise<ReadonlyMap<EventId, string>> {
  if (eventIds.length === 0) return new Map();
  const ids = [...new Set(eventIds.map(uuidOfId))];
  const rows = await readTriggers(db, [uuidOfId(projectId), arrayLiteral(ids)]);
  return new Map(rows.map(({ id, trigger_slug: slug }) => [idOfUuid("evt", id), slug]));
}

/** Says if an event was delivered to a portal subscription of the entity $3 that still exists. */
const findPortalDelivery = statement<{ found: boolean }>(
  "find_portal_delivery",
  `select exists (select from deliveries d where d.project_id = $1::uuid and d.event_id = $2::uuid and exists (
     select from subscriptions s where s.project_id = d.project_id and s.id = d.subscription_id and s.origin = 'portal'
       and s.entity_id = $3::text offset 0)) as found`,
);

/**
 * True if an event was delivered to a subscription that a customer created in the portal of this entity (customer or user), and that still
 * exists.
 */
export async function isDeliveredToPortal(
  db: Executor,
  projectId: ProjectId,
  { eventId, entityId }: { readonly eventId: EventId; readonly entityId: string },
): Promise<boolean> {
  const [row] = await findPortalDelivery(db, [uuidOfId(projectId), uuidOfId(eventId), entityId]);
  return row?.found === true;
}
