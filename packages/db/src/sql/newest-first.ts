import { type ProjectId, uuidOfId } from "@svc/core";
import { desc, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

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
): { readonly where: SQL; readonly orderBy: readonly SQL[] } {
  const row = sql`(${table.projectId}, ${table.id})`;
  const bound = (id: string) => sql`(${uuidOfId(projectId)}::uuid, ${id}::uuid)`;
  return {
    where: sql`${row} >= ${bound(firstUuid)} and ${row} < ${bound(before)}`,
    orderBy: [desc(table.projectId), desc(table.id)],
  };
}

const firstUuid = "00000000-0000-0000-0000-000000000000";
/** No id is as high. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
