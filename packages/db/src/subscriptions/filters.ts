import { idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { filterBy } from "../sql/filter.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Reads the filters of subscriptions. Finds the subscriptions by their primary key. */
const selectFilters = statement<{ id: string; filter: string }>(
  "read_subscription_filters",
  `select s.id, s.settings ->> 'filter' as filter from subscriptions s
   where s.id = any($1::uuid[]) and ${filterBy("s.project_id", "$2::uuid")} and s.settings ? 'filter'`,
);

/** Returns the filters of subscriptions of a project. A subscription without a filter is absent. */
export async function readSubscriptionFilters(
  db: Executor,
  projectId: ProjectId,
  ids: readonly SubscriptionId[],
): Promise<ReadonlyMap<SubscriptionId, string>> {
  if (ids.length === 0) return new Map();
  const rows = await selectFilters(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  return new Map(rows.map(({ id, filter }) => [idOfUuid("sub", id), filter]));
}

/**
 * Increases the counters of filter faults: events for which the filter of a subscription gave no result. Finds the subscriptions by their
 * primary key. Locks the rows in the order of their ids, so that deadlocks cannot occur.
 */
const addFaults = statement<{ id: string }>(
  "add_filter_faults",
  `with input as materialized (
    select i.id, i.count from unnest($1::uuid[], $2::int8[]) as i(id, count)
  ), held as materialized (
    select s.id from subscriptions s where s.id = any($1::uuid[]) order by s.id for no key update
  )
  update subscriptions s set filter_faults = s.filter_faults + i.count
  from input i where s.id = any(array(select id from held)) and i.id = s.id returning s.id`,
);

/** Adds to subscriptions the number of events for which their filter gave no result, for example because a field was absent. */
export async function addFilterFaults(db: Executor, counts: ReadonlyMap<SubscriptionId, number>): Promise<void> {
  if (counts.size === 0) return;
  await addFaults(db, [arrayLiteral([...counts.keys()].map(uuidOfId)), arrayLiteral([...counts.values()].map(String))]);
}
