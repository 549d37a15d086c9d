import { type EventId, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** How many deliveries of an event are in each state; `more` where it has others that were not counted. */
export type DeliveryCounts = {
  readonly pending: number;
  readonly delivered: number;
  readonly deadLetter: number;
  readonly more: boolean;
};

/** So many deliveries of an event are counted, whatever it has: 20,000 for the largest page. */
const countedMax = 40;

/** Served by deliveries_event, which each event is looked up in, and left as soon as enough was counted. */
const selectCounts = statement<{ event_id: string; pending: number; delivered: number; dead: number; seen: number }>(
  "count_event_deliveries",
  `select e.event_id, d.* from unnest($2::uuid[]) as e(event_id) cross join lateral (
     select count(*) filter (where n <= ${countedMax} and state = 'pending')::int4 as pending,
       count(*) filter (where n <= ${countedMax} and state = 'delivered')::int4 as delivered,
       count(*) filter (where n <= ${countedMax} and state = 'dead_letter')::int4 as dead, count(*)::int4 as seen
     from (select state, row_number() over () as n from (
       select state from deliveries where project_id = $1::uuid and event_id = e.event_id limit ${countedMax + 1}) first) numbered) d`,
);

/** How the deliveries of events stand, by their ids. */
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
