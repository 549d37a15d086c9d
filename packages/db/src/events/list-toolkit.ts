import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

const columns = selectList(events, namesBut(events), "e");

/** Which events of a toolkit: those with an id from `fromUuid` on and below `beforeUuid`. */
export type ToolkitEventsPage = {
  readonly toolkitSlug: string;
  readonly fromUuid: string;
  readonly beforeUuid: string;
  readonly limit: number;
};

/**
 * A backward scan of events_trigger for each trigger of the toolkit, none longer than the page, and their merge. A scan of the
 * project's events that filters reads all of them where the toolkit has few.
 *
 * The triggers are those in the store, found one after the other by a hop in the index: a definition that is gone, or is another
 * node's, has events all the same. In some collations the names of two toolkits mix, so the hops go on to the last one, over
 * every trigger that the deployment stored events of: 4 us each. Rows are compared as the index orders them: nothing else fits, whatever
 * statistics say of a trigger's share.
 */
const selectPage = statement<RawRow<Row<typeof events>>>(
  "list_toolkit_events",
  `with recursive triggers(slug) as (
    (select trigger_slug from events where trigger_slug >= $1::text order by trigger_slug limit 1)
    union all
    select (select trigger_slug from events where trigger_slug > t.slug order by trigger_slug limit 1)
    from triggers t where t.slug is not null
  )
  select ${columns.text} from triggers t cross join lateral (
    select * from events
    where (trigger_slug, project_id, id) >= (t.slug, $2::uuid, $3::uuid)
      and (trigger_slug, project_id, id) < (t.slug, $2::uuid, $4::uuid) and kind = 'event'
    order by trigger_slug desc, project_id desc, id desc limit $5::int4) e
  where starts_with(t.slug, $1::text) order by e.id desc limit $5::int4`,
);

/** Events of one toolkit of a project, newest first, tests left out. */
export async function listToolkitEvents(
  db: Executor,
  projectId: ProjectId,
  { toolkitSlug, fromUuid, beforeUuid, limit }: ToolkitEventsPage,
): Promise<Row<typeof events>[]> {
  const rows = await selectPage(db, [`${toolkitSlug}.`, uuidOfId(projectId), fromUuid, beforeUuid, limit]);
  return rows.map((row) => columns.read(row));
}
