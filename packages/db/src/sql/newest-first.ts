import { type ProjectId, uuidOfId } from "@svc/core";
import { desc, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

type NewestFirst = { readonly where: SQL; readonly orderBy: readonly SQL[] };

/**
 * Returns the `where` and `orderBy` of a query for all rows of a project, newest first. `before`: for pages after the first, a UUID; only
 * rows with lower ids are selected.
 */
export function newestOfProject(
  table: { readonly projectId: PgColumn; readonly id: PgColumn },
  projectId: ProjectId,
  before: string = lastUuid,
): NewestFirst {
  // Whole rows are compared, so that PostgreSQL uses the index of project and id. With `project_id = …`, a generic plan could use the
  // primary key and read all rows of large projects.
  const row = sql`(${table.projectId}, ${table.id})`;
  const bound = (id: string) => sql`(${uuidOfId(projectId)}::uuid, ${id}::uuid)`;
  return {
    where: sql`${row} >= ${bound(firstUuid)} and ${row} < ${bound(before)}`,
    orderBy: [desc(table.projectId), desc(table.id)],
  };
}

/** Returns the index expression for a list with one or two filters, and the value to compare it with. Undefined if neither filter is set. */
export function keyOf(
  [first, one]: readonly [PgColumn, string | undefined],
  [second, other]: readonly [PgColumn, string | undefined],
): { readonly key: SQL; readonly value: string } | undefined {
  // PostgreSQL uses the index of an expression only for statements with this expression.
  if (one !== undefined && other !== undefined)
    return { key: sql`(${first} || ' ' || ${second})`, value: `${one} ${other}` };
  if (one !== undefined) return { key: sql`(${first} || ' ')`, value: `${one} ` };
  return other === undefined ? undefined : { key: sql`(${second} || ' ')`, value: `${other} ` };
}

/**
 * Returns the condition and the order to read the newest rows with a given value of `key` (for example a state). The index consists of
 * `key`, the project and the id. All three are compared as one row, so that PostgreSQL uses this index. With a separate condition such as
 * `state = …`, PostgreSQL read all rows of the project if few or none matched.
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
/** The highest UUID. No id is higher, so it is the end of a range that has no other end. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
