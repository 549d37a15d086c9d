import { firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { filterBy } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";

/**
 * Maximum number of a trigger's newest events that `countOthers` reads. Among these, it counts the events about another entity (customer or
 * user) than the entity of the schedule.
 */
const walkedMax = 1_000;

/**
 * Counts events that a schedule ignores, because they are about another entity (customer or user). Looks only at the newest 1,000 events of
 * the trigger.
 */
const countOthers = statement<{ count: number }>(
  "count_passed_over_events",
  // The conditions compare all columns of the index events_trigger, so that PostgreSQL does not use the primary key.
  `select count(*) filter (where e.kind = 'event' and e.entity_id <> $4::text)::int4 as count from (
     select kind, entity_id from events
     where (trigger_slug, project_id, id) >= ($1::text, $2::uuid, $3::uuid)
       and (trigger_slug, project_id, id) <= ($1::text, $2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
     order by trigger_slug desc, project_id desc, id desc limit ${walkedMax} offset 0) e`,
);

/**
 * Returns how many of a trigger's last 1,000 events belong to other entities (customers or users) than `entityId`. Counts only events since
 * a time in epoch milliseconds.
 */
export async function countOtherEntityEvents(
  db: Executor,
  {
    projectId,
    triggerSlug,
    entityId,
    sinceMs,
  }: { projectId: ProjectId; triggerSlug: string; entityId: string; sinceMs: number },
): Promise<number> {
  const [row] = await countOthers(db, [triggerSlug, uuidOfId(projectId), firstUuidAt(sinceMs), entityId]);
  return row?.count ?? 0;
}

/** Maximum number of entities (customers or users) that `findReferencedEntities` returns. */
const namedMax = 20;

/**
 * Finds the entities (customers or users) whose accounts of a toolkit (app) have references. Uses the index account_references_project. The
 * statement runs only when a schedule is created.
 */
const selectEntities = statement<{ entityId: string }>(
  "find_referenced_entities",
  `select entity_id as "entityId" from (
     select distinct entity_id from account_references where project_id = $1::uuid and ${filterBy("toolkit_slug", "$2::text")}) r
   order by entity_id <> $3::text, entity_id limit ${namedMax}`,
);

/**
 * Returns at most 20 entities (customers or users) of a project to which webhook posts of a toolkit (app) may belong. If posts may belong
 * to `entityId`, it is always among them.
 */
export async function findReferencedEntities(
  db: Executor,
  { projectId, toolkitSlug, entityId }: { projectId: ProjectId; toolkitSlug: string; entityId: string },
): Promise<readonly string[]> {
  const found = await selectEntities(db, [uuidOfId(projectId), toolkitSlug, entityId]);
  return found.map((row) => row.entityId);
}
