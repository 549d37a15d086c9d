import { type ProjectId, uuidOfId } from "@svc/core";
import { desc, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

type NewestFirst = { readonly where: SQL; readonly orderBy: readonly SQL[] };

/**
 * Returns the condition and the order for a project's rows, newest first, without further filters. Rows are compared in the order of an
 * index of project and id, so no other index fits. With `project_id = …` the primary key fits as well. With few projects, a generic plan
 * then read all rows of large projects to list a small one. `before`: only rows below this UUID, for pages after the first.
 */
export function newestOfProject(
  table: { readonly projectId: PgColumn; readonly id: PgColumn },
  projectId: ProjectId,
  before: string = lastUuid,
): NewestFirst {
  const row = sql`(${table.projectId}, ${table.id})`;
  const bound = (id: string) => sql`(${uuidOfId(projectId)}::uuid, ${id}::uuid)`;
  return {
    where: sql`${row} >= ${bound(firstUuid)} and ${row} < ${bound(before)}`,
    orderBy: [desc(table.projectId), desc(table.id)],
  };
}

/**
 * Returns the index expression for a list filtered by one column or by two: the texts of the columns joined. Undefined if neither is
 * filtered. An expression, so that no other statement is planned with such an index.
 */
export function keyOf(
  [first, one]: readonly [PgColumn, string | undefined],
  [second, other]: readonly [PgColumn, string | undefined],
): { readonly key: SQL; readonly value: string } | undefined {
  if (one !== undefined && other !== undefined)
    return { key: sql`(${first} || ' ' || ${second})`, value: `${one} ${other}` };
  if (one !== undefined) return { key: sql`(${first} || ' ')`, value: `${one} ` };
  return other === undefined ? undefined : { key: sql`(${second} || ' ')`, value: `${other} ` };
}

/**
 * The same for rows with a given value, from an index of this expression, project and id. The expression leads the compared row, so no
 * other index fits. With `state = …` a generic plan read the project's rows from the newest on, and read all of them if few or none
 * matched.
 */
export function newestWith(
  table: { readonly projectId: PgColumn; readonly id: PgColumn },
  projectId: ProjectId,
  {
    key,
    value,
    before = lastUuid,
  }: { readonly key: SQLWrapper; readonly value: string; readonly before?: string | undefined },
): NewestFirst {
  const row = sql`(${key}, ${table.projectId}, ${table.id})`;
  const bound = (id: string) => sql`(${value}::text, ${uuidOfId(projectId)}::uuid, ${id}::uuid)`;
  return {
    where: sql`${row} >= ${bound(firstUuid)} and ${row} < ${bound(before)}`,
    orderBy: [desc(key), desc(table.projectId), desc(table.id)],
  };
}

const firstUuid = "00000000-0000-0000-0000-000000000000";
/** The highest possible id. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
