import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/** An active subscription, as routing and delivery need it. */
export type RoutedSubscription = {
  id: SubscriptionId;
  projectId: ProjectId;
  endpointUrl: string;
  toolkitSlug: string;
  triggerSlug: string;
  /** Sealed. */
  signingSecret: Buffer;
};

/** The active subscriptions of a project and the routing version they were read at. */
export type ProjectRouting = { version: number; subscriptions: RoutedSubscription[] };

type RoutingRow = {
  project_id: string;
  version: string;
  id: string | null;
  endpoint_url: string;
  toolkit_slug: string;
  trigger_slug: string;
  signing_secret: Buffer;
};

const selectRouting = statement<RoutingRow>(
  "read_project_routing",
  `select p.id as project_id, p.routing_version as version, s.id, s.endpoint_url, s.toolkit_slug, s.trigger_slug, s.signing_secret
   from projects p left join subscriptions s on s.project_id = p.id and s.kind = 'events' and s.active
   where p.id = any($1::uuid[])`,
);

/** The routing of many projects in one snapshot; a project that does not exist is absent. */
export async function readProjectRouting(
  db: Executor,
  ids: readonly ProjectId[],
): Promise<Map<ProjectId, ProjectRouting>> {
  const routing = new Map<ProjectId, ProjectRouting>();
  for (const row of await selectRouting(db, [arrayLiteral(ids.map(uuidOfId))])) {
    const projectId = idOfUuid("prj", row.project_id);
    const project = routing.get(projectId) ?? { version: Number(row.version), subscriptions: [] };
    routing.set(projectId, project);
    if (row.id === null) continue;
    project.subscriptions.push({
      id: idOfUuid("sub", row.id),
      projectId,
      endpointUrl: row.endpoint_url,
      toolkitSlug: row.toolkit_slug,
      triggerSlug: row.trigger_slug,
      signingSecret: row.signing_secret,
    });
  }
  return routing;
}

/** An event and a subscription that wants it. */
export type Match = { eventId: EventId; subscriptionId: SubscriptionId };

/** Which events to match with the active subscriptions of a project; undefined and empty match all. UUID bounds are on event ids. */
export type MatchFilter = {
  fromUuid: string;
  /** Exclusive. */
  toUuid: string;
  toolkitSlug: string;
  triggerSlug: string;
  subscriptionId: SubscriptionId | undefined;
  /** Leaves out pairs that have a delivery delivered or pending. */
  onlyUndelivered: boolean;
};

const matches = `from events e join subscriptions s on s.project_id = e.project_id and s.kind = 'events' and s.active
    and (s.toolkit_slug = '' or s.toolkit_slug = e.toolkit_slug) and (s.trigger_slug = '' or s.trigger_slug = e.trigger_slug)
  where e.project_id = $1::uuid and e.kind = 'event' and e.id >= $2::uuid and e.id < $3::uuid
    and ($4::text = '' or e.toolkit_slug = $4::text) and ($5::text = '' or e.trigger_slug = $5::text)
    and ($6::uuid is null or s.id = $6::uuid)
    and (not $7::bool or not exists (
      select from deliveries d where d.project_id = e.project_id and d.event_id = e.id and d.subscription_id = s.id
        and d.state in ('delivered', 'pending')))`;

const selectMatches = statement<{ event_id: string; subscription_id: string }>(
  "find_matches",
  `select e.id as event_id, s.id as subscription_id ${matches} order by e.id, s.id limit $8::int4`,
);

const countMatches = statement<{ count: string }>("count_matches", `select count(*) as count ${matches}`);

/** The matches, oldest event first, `limit` at most. Events are found through the primary key. */
export async function findMatches(
  db: Executor,
  projectId: ProjectId,
  filter: MatchFilter,
  limit: number,
): Promise<Match[]> {
  const rows = await selectMatches(db, [...matchParameters(projectId, filter), limit]);
  return rows.map((row) => ({
    eventId: idOfUuid("evt", row.event_id),
    subscriptionId: idOfUuid("sub", row.subscription_id),
  }));
}

/** How many matches there are. */
export async function countMatchesOf(db: Executor, projectId: ProjectId, filter: MatchFilter): Promise<number> {
  const [row] = await countMatches(db, matchParameters(projectId, filter));
  return Number(row?.count ?? 0);
}

function matchParameters(projectId: ProjectId, filter: MatchFilter) {
  return [
    uuidOfId(projectId),
    filter.fromUuid,
    filter.toUuid,
    filter.toolkitSlug,
    filter.triggerSlug,
    filter.subscriptionId === undefined ? null : uuidOfId(filter.subscriptionId),
    filter.onlyUndelivered,
  ];
}
