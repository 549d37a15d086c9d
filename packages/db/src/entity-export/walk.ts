import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { and, eq, getTableName, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { eventsOfAsks } from "../erasures/rules.ts";
import { nextOfProject, scanProject } from "../erasures/walk.ts";
import { type ErasedTable, erasedTables, type NamedEntity } from "../schema/erased-tables.ts";
import { events, jobPrograms, jobs, skills, standingPrograms, standingVersions } from "../schema/index.ts";
import { keyColumns } from "../schema/sealed-columns.ts";
import { firstUuid } from "../sql/newest-in.ts";
import { arrayLiteral, bytesArrayLiteral } from "../sql/statement.ts";
import { namesOf, ownRows, type RowOwnership, rowsOfEntity, type WalkedEntity, waysOf } from "./membership.ts";
import { type ExportedRow, type PagedRow, type PageQuery, type RowKey, readRows } from "./page.ts";

type ProgramUse = { readonly cursor: string; readonly of: string; readonly digest: Buffer };

/**
 * A table whose rows (such as jobs) have a program, for the export of data. `page`: query for the next rows after a cursor, in cursor
 * order. Each result row has the digest of the program and the id of the row in `table`.
 */
type ProgramUseSource = {
  readonly table: PgTable;
  readonly page: (projectId: ProjectId, after: string | undefined) => SQL;
};

const pageMax = 500;
const limit = sql`${pageMax}::int4`;

const everyUse: readonly ProgramUseSource[] = [
  { table: jobs, page: usesByJobs },
  { table: jobs, page: usesBySkills },
  { table: standingPrograms, page: usesByVersions },
];

/**
 * Returns the digests of the programs that only the jobs, skills and schedules of one entity (customer or user) use. Programs that other
 * jobs, skills or schedules of the project also use are absent. The function searches page by page, and keeps one digest per program of the
 * project in memory.
 */
async function programsOfEntityAlone(db: Executor, named: NamedEntity): Promise<Buffer[]> {
  const [own, others] = [new Set<string>(), new Set<string>()];
  for (const { table, page } of everyUse) {
    for (let after: string | undefined; ; ) {
      const rows = await db.orm.execute<ProgramUse>(page(named.projectId, after));
      const theirs = await rowsOfEntity(db, named, declared(table), [...new Set(rows.map(({ of }) => of))]);
      for (const { of, digest } of rows) (theirs.has(of) ? own : others).add(digest.toString("latin1"));
      after = rows.at(-1)?.cursor;
      if (rows.length < pageMax) break;
    }
  }
  return [...own].filter((digest) => !others.has(digest)).map((digest) => Buffer.from(digest, "latin1"));
}

function usesByJobs(projectId: ProjectId, after: string | undefined): SQL {
  const next = nextOfProject({ table: jobs }, { projectId, after, limit: pageMax });
  return sql`select n.place || '/' || n.id as cursor, n.id::text as of, j.program_digest as digest
    from (${next}) n cross join lateral (select * from ${jobs} where id = n.id offset 0) j order by n.place, n.id`;
}

function usesBySkills(projectId: ProjectId, after = "0/"): SQL {
  const [version, ...slug] = after.split("/");
  const project = sql`${uuidOfId(projectId)}::uuid`;
  return sql`select version || '/' || slug as cursor, job_id::text as of, program_digest as digest from ${skills}
    where (project_id, slug, version) > (${project}, ${slug.join("/")}::text, ${version}::int4) and project_id <= ${project}
    order by project_id, slug, version limit ${limit}`;
}

function usesByVersions(projectId: ProjectId, after = `0/${firstUuid}`): SQL {
  const [version, program] = after.split("/");
  const project = sql`${uuidOfId(projectId)}::uuid`;
  return sql`select v.version || '/' || p.id as cursor, p.id::text as of, v.program_digest as digest
    from (select s.project_id, s.id from ${standingPrograms} s where (s.project_id, s.id) >= (${project}, ${program}::uuid) and s.project_id <= ${project}
      order by s.project_id, s.id) p
    cross join lateral (
      select v.program_id, v.version, v.program_digest from ${standingVersions} v
      where v.program_id = p.id and v.version > case when p.id = ${program}::uuid then ${version}::int4 else 0 end
      order by v.program_id, v.version limit ${limit}) v
    order by p.project_id, p.id, v.version limit ${limit}`;
}

function declared(table: PgTable): ErasedTable {
  const found = erasedTables.find((one) => one.table === table);
  if (found === undefined) throw new Error(`${getTableName(table)} is not declared`);
  return found;
}

/** A page of an export: at least one row, all of one table. */
type ExportedPage = { readonly table: string; readonly rows: readonly ExportedRow[] };

/** Parameters of a scan for all data of an entity (a customer or user): the entity, the database and the page size in bytes. */
type EntityWalk = { readonly db: Executor; readonly named: WalkedEntity } & Pick<PageQuery, "bytesMax">;

const scannedRowsMax = 500;
/** Maximum parent rows whose dependent rows one query reads. */
const ownersMax = 100;

/**
 * Yields all rows that an erasure of an entity (customer or user) would delete now, each once, in pages. Each page is read by its own
 * statement, so a row is as it was at that time. Rows come after the rows that they belong to.
 */
export async function* exportEntity(
  db: Executor,
  named: WalkedEntity,
  pages: Pick<PageQuery, "bytesMax"> = {},
): AsyncGenerator<ExportedPage> {
  const walk = { db, named, ...pages };
  for (const erased of erasedTables) {
    const { entity } = erased;
    if (entity === "as what runs them") yield* programsAlone(walk, erased);
    if (typeof entity !== "object" || "none" in entity) continue;
    if (erased.key === undefined) yield* rowsNamed(walk, erased);
    else yield* rowsLookedAt(walk, erased);
  }
}

/**
 * Yields the rows of a table that belong to an exported entity (a customer or user). A condition on the table's own columns finds them. Use
 * it for tables without dependent rows in other tables.
 */
async function* rowsNamed(walk: EntityWalk, erased: ErasedTable): AsyncGenerator<ExportedPage> {
  const names = namesOf(erased, walk.named);
  for (const { where, columns } of erased.indexes ?? [{ where: undefined, columns: keyColumns(erased.table) }]) {
    for await (const rows of pagesOf(walk, { erased, where: and(names, where), order: columns }))
      yield pageOf(erased, rows);
  }
}

/**
 * Yields the rows of a table that belong to the entity (a customer or user). Scans all rows of the project in the order of their keys. The
 * scan is needed if code must check each row, or if rows of other tables depend on these rows.
 */
async function* rowsLookedAt(walk: EntityWalk, erased: ErasedTable): AsyncGenerator<ExportedPage> {
  const { db, named } = walk;
  const { table } = erased;
  for (let after: string | undefined; ; ) {
    const page = { projectId: named.projectId, after, limit: scannedRowsMax };
    const { named: asked, next } = await scanProject(db, erased, page, namesOf(erased, named));
    const own = "rule" in Object(erased.entity) ? await ownRows(db, named, erased, asked) : new Set(asked);
    if (own.size > 0) yield* rowsOf(walk, erased, [...own]);
    if (table === jobs && own.size > 0) yield* eventsAsked(walk, [...own]);
    if (next === undefined) return;
    after = next;
  }
}

/** Yields the rows of a table with the given UUIDs, together with the rows of other tables that depend on them. */
async function* rowsOf(
  walk: EntityWalk,
  erased: ErasedTable,
  uuids: readonly string[],
  where?: SQL,
): AsyncGenerator<ExportedPage> {
  const { key } = erased;
  if (key === undefined) throw new Error(`${getTableName(erased.table)} has no key`);
  const isOne = sql`${key} = any(${arrayLiteral([...uuids])}::uuid[])`;
  const project = erased.project && eq(erased.project, walk.named.projectId);
  const query = { erased, where: and(project, isOne, where), order: [key] };
  for await (const rows of pagesOf(walk, query)) {
    yield pageOf(erased, rows);
    yield* rowsAlong(walk, erased, rows.map(uuidIn));
  }
}

/**
 * Yields the pages of programs for the export of an entity (customer or user). Only programs are included that no job or schedule outside
 * the entity uses.
 */
async function* programsAlone(walk: EntityWalk, erased: ErasedTable): AsyncGenerator<ExportedPage> {
  const digests = await programsOfEntityAlone(walk.db, walk.named);
  for (let at = 0; at < digests.length; at += ownersMax) {
    const isOne = sql`${jobPrograms.digest} = any(${bytesArrayLiteral(digests.slice(at, at + ownersMax))}::bytea[])`;
    const where = and(eq(jobPrograms.projectId, walk.named.projectId), isOne);
    for await (const rows of pagesOf(walk, { erased, where, order: keyColumns(erased.table) }))
      yield pageOf(erased, rows);
  }
}

/**
 * Yields the events with the questions of these jobs, as svc sent them to endpoints. Leaves out events that name the entity, because the
 * export yields them elsewhere.
 */
async function* eventsAsked(walk: EntityWalk, jobUuids: readonly string[]): AsyncGenerator<ExportedPage> {
  const asked = await eventsOfAsks(
    walk.db,
    jobUuids.map((id) => idOfUuid("job", id)),
  );
  const erased = erasedTables.find(({ table }) => table === events);
  if (asked.length === 0 || erased === undefined) return;
  const names = namesOf(erased, walk.named);
  yield* rowsOf(walk, erased, asked.map(uuidOfId), names && sql`${names} is not true`);
}

/**
 * Yields the rows that belong to given rows of the table `parent`. `uuids`: the ids of the parent rows. A row may refer to its parents
 * through several columns. The row is yielded only once, for the first column through which it is found.
 */
async function* rowsAlong(
  walk: EntityWalk,
  parent: ErasedTable,
  uuids: readonly string[],
): AsyncGenerator<ExportedPage> {
  for (const erased of erasedTables) {
    const ways = waysOf(erased);
    for (const [index, way] of ways.entries()) {
      if (way.erased !== parent) continue;
      for (let at = 0; at < uuids.length; at += ownersMax) {
        yield* rowsByWay(walk, { erased, way, before: ways.slice(0, index), owners: uuids.slice(at, at + ownersMax) });
      }
    }
  }
}

type OwnedRowsQuery = {
  readonly erased: ErasedTable;
  readonly way: RowOwnership;
  readonly before: readonly RowOwnership[];
  readonly owners: readonly string[];
};

async function* rowsByWay(
  walk: EntityWalk,
  { erased, way, before, owners }: OwnedRowsQuery,
): AsyncGenerator<ExportedPage> {
  const { key } = erased;
  const names = namesOf(erased, walk.named);
  const query = {
    ...{ erased, ways: before, owners: { ...way, ids: owners } },
    where: names && sql`${names} is not true`,
    order: way.parent.order ?? keyColumns(erased.table),
  };
  for await (const found of pagesOf(walk, query)) {
    const rows = await withoutOthers(walk, erased, before, found);
    if (rows.length > 0) yield pageOf(erased, rows);
    if (key !== undefined && rows.length > 0) yield* rowsAlong(walk, erased, rows.map(uuidIn));
  }
}

/** Returns `found` without the rows that another part of the entity's export contains. So each row is exported only once. */
async function withoutOthers(
  { db, named }: EntityWalk,
  erased: ErasedTable,
  before: readonly RowOwnership[],
  found: readonly PagedRow[],
): Promise<PagedRow[]> {
  // Rows that belong to the entity by a rule in code are exported with their own table.
  const isByRule = typeof erased.entity === "object" && "rule" in erased.entity;
  const own = isByRule ? await ownRows(db, named, erased, found.map(uuidIn)) : new Set<string>();
  let rows = found.filter((row) => !own.has(uuidIn(row)));
  // `before` lists the parent tables through which the export has already found some rows.
  for (const [index, way] of before.entries()) {
    const parents = rows.flatMap((row) => row.parents[index] ?? []);
    const theirs = await rowsOfEntity(db, named, way.erased, [...new Set(parents)]);
    rows = rows.filter((row) => !theirs.has(row.parents[index] ?? ""));
  }
  return rows;
}

/** Yields the rows of a query, page by page. */
async function* pagesOf(
  { db, named: { projectId }, ...pages }: EntityWalk,
  query: Omit<PageQuery, "projectId" | "after" | "bytesMax">,
): AsyncGenerator<PagedRow[]> {
  let ids = query.owners?.ids ?? [];
  for (let after: RowKey | undefined; ; ) {
    // If the rows of an owner (parent row) do not fit into one page, the next pages have only this owner. So each page begins where the
    // last one ended.
    const owners = query.owners && { ...query.owners, ids: after === undefined ? ids : ids.slice(0, 1) };
    const { rows, isEnd } = await readRows(db, { ...query, ...pages, projectId, after, ...(owners && { owners }) });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    const isOver = isEnd || last === undefined;
    if (owners === undefined) {
      if (isOver) return;
      after = last.key;
      continue;
    }
    if (isOver && (after === undefined || ids.length <= 1)) return;
    if (isOver) [ids, after] = [ids.slice(1), undefined];
    else [ids, after] = [ids.filter((id) => id >= (last.owner ?? "")), last.key];
  }
}

/** Returns the UUID of a row on which other rows depend. The UUID is the last column of the row's key. */
function uuidIn({ key }: PagedRow): string {
  return key.at(-1) ?? "";
}

function pageOf({ table }: ErasedTable, rows: readonly PagedRow[]): ExportedPage {
  return { table: getTableName(table), rows: rows.map(({ row }) => row) };
}
