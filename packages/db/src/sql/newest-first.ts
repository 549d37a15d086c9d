import { type ProjectId, uuidOfId } from "@svc/core";
import { desc, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

type NewestFirst = { readonly where: SQL; readonly orderBy: readonly SQL[] };

/**
 * The condition and the order of a project's rows from the newest, where nothing else narrows them. Rows are compared as an index of
 * project and id orders them, so that no other fits: with `project_id = …` the primary key has the order as well, and a plan for any
 * value, in a deployment of few projects, took it and went past all rows of the large ones in the list of a small one. `before`: only rows
 * below this UUID, as a page has them that is not the first.
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
 * What indexes for lists that one column narrows, or two, have in place of them: their texts joined. Undefined where neither does. An
 * expression, so that no other statement is planned by such an index.
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
 * The same of rows that have a value, as an index of this expression, project and id has them. It leads the row that is
 * compared, and no other index: with `state = …` a plan for any value took what a project has from the newest on, and went past all of it
 * where few or none were in the state.
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
/** No id is as high. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
