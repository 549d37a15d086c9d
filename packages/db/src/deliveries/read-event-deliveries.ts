import { type EventId, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** How the deliveries of one event stand. */
export type EventDeliveries = {
  readonly eventId: EventId;
  readonly isDead: boolean;
  readonly isPending: boolean;
  /** The earliest time at which a pending one is tried; null when none is pending. */
  readonly nextAttemptAt: number | null;
};

/** Served by deliveries_event, which each event is looked up in. */
const readDeliveries = statement<{ event_id: string; dead: boolean; pending: boolean; next_ms: number | null }>(
  "read_event_deliveries",
  `select e.event_id, d.* from unnest($2::uuid[]) as e(event_id) cross join lateral (
     select bool_or(state = 'dead_letter') as dead, bool_or(state = 'pending') as pending,
       (extract(epoch from min(next_attempt_at) filter (where state = 'pending')) * 1000)::float8 as next_ms
     from deliveries where project_id = $1::uuid and event_id = e.event_id having count(*) > 0) d`,
);

/** The deliveries of events, one entry for each event that has any. */
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
