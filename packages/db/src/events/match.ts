import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { filterBy } from "../sql/filter.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** An event and a subscription that wants it. */
export type EventMatch = { eventId: EventId; subscriptionId: SubscriptionId };

/** Which events to match with the active subscriptions of a project; undefined and empty match all. UUID bounds are on event ids. */
export type EventMatchFilter = {
  fromUuid: string;
  /** Exclusive. */
  toUuid: string;
  toolkitSlug: string;
  triggerSlug: string;
  subscriptionId: SubscriptionId | undefined;
  /** Leaves out pairs that have a delivery delivered or pending. */
  onlyUndelivered: boolean;
  /** Leaves out pairs that have a pending delivery. Default: false. */
  withoutPending?: boolean;
};

/** `offset 0` looks each pair up: else all deliveries there are were put into one hash table. */
const matches = `from events e join subscriptions s on s.project_id = e.project_id and s.kind = 'events' and s.active
    and (s.toolkit_slug = '' or s.toolkit_slug = e.toolkit_slug) and (s.trigger_slug = '' or s.trigger_slug = e.trigger_slug)
    and (s.entity_id = '' or s.entity_id = e.entity_id)
  where e.project_id = $1::uuid and e.kind = 'event' and e.id >= $2::uuid and e.id < $3::uuid
    and ($4::text = '' or e.toolkit_slug = $4::text) and ($5::text = '' or e.trigger_slug = $5::text)
    and ($6::uuid is null or s.id = $6::uuid)
    and ($7::text[] = '{}' or not exists (
      select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and ${filterBy("d.subscription_id", "s.id")}
        and d.state = any($7::text[]) offset 0))`;

/** Events by the bounds of their primary key, then the subscriptions of the project, then the deliveries of each pair. */
const selectMatches = statement<{ event_id: string; subscription_id: string }>(
  "find_matches",
  `select e.id as event_id, s.id as subscription_id ${matches} order by e.id, s.id limit $8::int4`,
);

/** As `find_matches`. */
const countMatches = statement<{ count: string }>("count_matches", `select count(*) as count ${matches}`);

/** The matches, oldest event first, `limit` at most. Events are found through the primary key. */
export async function findEventMatches(
  db: Executor,
  projectId: ProjectId,
  filter: EventMatchFilter,
  limit: number,
): Promise<EventMatch[]> {
  const rows = await selectMatches(db, [...matchParameters(projectId, filter), limit]);
  return rows.map((row) => ({
    eventId: idOfUuid("evt", row.event_id),
    subscriptionId: idOfUuid("sub", row.subscription_id),
  }));
}

/** How many matches there are. */
export async function countEventMatches(db: Executor, projectId: ProjectId, filter: EventMatchFilter): Promise<number> {
  const [row] = await countMatches(db, matchParameters(projectId, filter));
  return Number(row?.count ?? 0);
}

function matchParameters(projectId: ProjectId, filter: EventMatchFilter) {
  return [
    uuidOfId(projectId),
    filter.fromUuid,
    filter.toUuid,
    filter.toolkitSlug,
    filter.triggerSlug,
    filter.subscriptionId === undefined ? null : uuidOfId(filter.subscriptionId),
    arrayLiteral(filter.onlyUndelivered ? ["delivered", "pending"] : filter.withoutPending === true ? ["pending"] : []),
  ];
}
