import { type ProjectId, uuidOfId } from "@svc/core";
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import type { ErasedTable } from "../schema/erased-tables.ts";
import { jobs, quarantinedPosts, standingRuns, toolCalls } from "../schema/index.ts";
import { keyColumns } from "../schema/sealed-columns.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";

/** A table whose rows are scanned project by project. */
type WalkedTable = Pick<ErasedTable, "table" | "key" | "project">;

/** The page of a project's rows that a scan reads next: the cursor where it begins, and the maximum number of rows. */
export type ProjectPage = {
  readonly projectId: ProjectId;
  /** Cursor from the previous page; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
};

/**
 * Result of scanning one page of a table for rows of an entity (customer or user): the matching rows, and the position of the next page.
 */
export type SearchedRows = {
  /** UUIDs of those scanned rows that belong to the entity (customer or user) or project to erase. */
  readonly named: readonly string[];
  /** Cursor for the next page; undefined at the end. */
  readonly next: string | undefined;
};

/** The last row of the previous page. Rows are sorted by `place`, such as the id of their schedule, and then by `uuid`, their own id. */
type WalkStart = { readonly place: string; readonly uuid: string };

type ProjectWalk = (project: SQL, from: WalkStart, limit: SQL) => SQL;

/**
 * Queries by which the erasure of data finds the rows of a project. They are for tables without a single index that has all rows of a
 * project in the order of their ids.
 */
const walks: ReadonlyMap<PgTable, ProjectWalk> = new Map<PgTable, ProjectWalk>([
  [jobs, nextJobs],
  [toolCalls, nextCalls],
  [standingRuns, nextRuns],
  [quarantinedPosts, nextPosts],
]);

/**
 * Scans the next rows of a project for an erasure or export. Returns the rows that match `names`, and the cursor for the next page. Scans
 * by project first, so it reads no rows of other projects. A scan by primary key alone could read all rows of the table, even for a small
 * project.
 */
export async function scanProject(
  db: Executor,
  erased: WalkedTable,
  { projectId, after, limit }: ProjectPage,
  names: SQL = sql`true`,
): Promise<SearchedRows> {
  const { table, key, project } = erased;
  if (key === undefined || project === undefined)
    throw new Error(`${getTableName(table)} is not gone through by project and key`);
  const rows = await db.orm.execute<{ place: string; id: string; is_named: boolean }>(
    sql`select n.place::text as place, n.id::text as id, ${names} as is_named
      from (${nextOfProject(erased, { projectId, after, limit })}) n
      cross join lateral (select * from ${table} where ${whereKey(erased, projectId, sql`= n.id`)} offset 0) ${sql.identifier(getTableName(table))}
      order by n.place, n.id`,
  );
  const last = rows.at(-1);
  return {
    named: rows.filter((row) => row.is_named).map(({ id }) => id),
    next: last === undefined || rows.length < limit ? undefined : cursorOf(last),
  };
}

/**
 * Returns the SQL condition that compares the key of a row with a value, for rows of one project. `compared`: the comparison as SQL, with
 * operator and value.
 */
export function whereKey({ table, key, project }: WalkedTable, projectId: ProjectId, compared: SQL): SQL {
  if (key === undefined) throw new Error(`${getTableName(table)} has no key`);
  // If the primary key begins with the project, the project is named, so that rows of other projects are not scanned.
  const isWithin = project !== undefined && keyColumns(table)[0]?.name === project.name;
  return isWithin ? sql`${project} = ${uuidOfId(projectId)}::uuid and ${key} ${compared}` : sql`${key} ${compared}`;
}

/** Returns the cursor with which the next page begins after this row. `place`: the value by which rows are sorted before their ids. */
export function cursorOf({ place, id }: { readonly place: string; readonly id: string }): string {
  return `${place}/${id}`;
}

/** True if no index of the table contains all rows of a project, so that `walks` has a query that finds these rows through another table. */
export function isWalked(table: PgTable): boolean {
  return walks.has(table);
}

/** Returns the SQL condition that a row of the table `gone` is on the next page of a project's rows. */
export function isNext(gone: WalkedTable, page: ProjectPage): SQL {
  const [key] = keyColumns(gone.table);
  return sql`${key} = any(array(select n.id from (${nextOfProject(gone, page)}) n))`;
}

/**
 * Returns the SQL query for the next page of a project's rows in a table. Its column `id` is the row's key. Rows are sorted by `place`, then
 * by `id`.
 */
export function nextOfProject({ table, key, project }: WalkedTable, { projectId, after, limit }: ProjectPage): SQL {
  const own = sql`${uuidOfId(projectId)}::uuid`;
  const most = sql`${limit}::int4`;
  const from = boundOf(after);
  const walk = walks.get(table);
  if (walk !== undefined) return walk(own, from, most);
  if (key === undefined || project === undefined)
    throw new Error(`${getTableName(table)} is not gone through by project and key`);
  // Compares whole rows in the order of the intended index, so that PostgreSQL cannot use another index.
  return sql`select ${firstUuid}::uuid as place, ${key} as id from ${table}
    where (${project}, ${key}) > (${own}, ${from.uuid}::uuid) and (${project}, ${key}) <= (${own}, ${lastUuid}::uuid)
    order by ${project}, ${key} limit ${most}`;
}

/**
 * Returns the start position of a page from a cursor. A cursor without `place` comes from a node of an older version. The scan then starts
 * again at the first row of the table. It finds fewer rows than before, because the erasure has already deleted many.
 */
function boundOf(after: string | undefined): WalkStart {
  const [place, uuid] = after?.split("/") ?? [];
  if (place !== undefined && uuid !== undefined) return { place, uuid };
  return { place: firstUuid, uuid: firstUuid };
}

const [first, last] = [sql`${firstUuid}::uuid`, sql`${lastUuid}::uuid`];

/** Returns the SQL for the next jobs of a project. It reads two indexes that together contain all jobs. */
function nextJobs(project: SQL, { uuid }: WalkStart, limit: SQL): SQL {
  const kinds = [
    ["shown", sql`mode = 'live' and parent_job_id is null`],
    ["others", sql`(mode <> 'live' or parent_job_id is not null)`],
  ] as const;
  // The indexes give the statuses, because this node may not know all of them.
  const hops = kinds.map(
    ([name, kind]) => sql`${sql.identifier(name)}(status) as (
      select ''::text
      union all
      select (select j.status from jobs j where ${kind} and (j.project_id, j.status) > (${project}, v.status) and j.project_id <= ${project}
        order by j.project_id, j.status limit 1)
      from ${sql.identifier(name)} v where v.status is not null)`,
  );
  const found = kinds.map(
    ([name, kind]) => sql`select f.id from ${sql.identifier(name)} v cross join lateral (
      select j.id from jobs j where ${kind} and (j.project_id, j.status, j.id) > (${project}, v.status, ${uuid}::uuid)
        and (j.project_id, j.status, j.id) <= (${project}, v.status, ${last})
      order by j.project_id, j.status, j.id limit ${limit}) f where v.status <> ''`,
  );
  return sql`with recursive ${sql.join(hops, sql`, `)}
    select ${first} as place, a.id from (${sql.join(found, sql` union all `)}) a order by a.id limit ${limit}`;
}

/**
 * Returns the SQL for the next calls of a project. It uses the two indexes that together contain every call: one has the calls without a
 * failure, the other one the failed calls by failure.
 */
function nextCalls(project: SQL, { uuid }: WalkStart, limit: SQL): SQL {
  return sql`with recursive failures(failure) as (
      select ''::text
      union all
      select (select c.failure from tool_calls c where c.failure > v.failure order by c.failure limit 1) from failures v where v.failure is not null)
    select ${first} as place, a.id from (
      (select c.id from tool_calls c where c.failure is null and (c.project_id, c.id) > (${project}, ${uuid}::uuid)
        and (c.project_id, c.id) <= (${project}, ${last}) order by c.project_id, c.id limit ${limit})
      union all
      select f.id from failures v cross join lateral (
        select c.id from tool_calls c where c.failure is not null and (c.failure, c.project_id, c.id) > (v.failure, ${project}, ${uuid}::uuid)
          and (c.failure, c.project_id, c.id) <= (v.failure, ${project}, ${last}) order by c.failure, c.project_id, c.id limit ${limit}) f
      where v.failure <> '') a order by a.id limit ${limit}`;
}

/** Returns the SQL for the project's first quarantined posts. It ignores the start, because an erasure deletes each post that it reads. */
function nextPosts(project: SQL, _from: WalkStart, limit: SQL): SQL {
  const found = [sql`released_at is null`, sql`released_at is not null`].map(
    (kind) => sql`(select q.id from quarantined_posts q where ${kind} and project_id is not null
      and (q.project_id, q.reason, q.id) > (${project}, '', ${first}) and q.project_id <= ${project}
      order by q.project_id, q.reason, q.id limit ${limit})`,
  );
  return sql`select ${first} as place, a.id from (${sql.join(found, sql` union all `)}) a limit ${limit}`;
}

/**
 * Returns the SQL for the next runs of a project. It reads the runs of one standing program (a schedule) after the other. `place`: the id
 * of the program that the scan has reached.
 */
function nextRuns(project: SQL, { place, uuid }: WalkStart, limit: SQL): SQL {
  return sql`select p.id as place, r.id from (
      select s.project_id, s.id from standing_programs s where (s.project_id, s.id) >= (${project}, ${place}::uuid)
        and (s.project_id, s.id) <= (${project}, ${last}) order by s.project_id, s.id) p
    cross join lateral (
      select r.id from standing_runs r
      where r.program_id = p.id and (r.program_id, r.id) <= (p.id, ${last})
        and (r.program_id, r.id) > (p.id, case when p.id = ${place}::uuid then ${uuid}::uuid else ${first} end)
      order by r.program_id, r.id limit ${limit}) r
    order by p.project_id, p.id, r.id limit ${limit}`;
}
