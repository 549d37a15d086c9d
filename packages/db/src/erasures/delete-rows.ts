import { uuidOfId } from "@svc/core";
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { touchCatalog } from "../catalog/repo.ts";
import type { Executor } from "../connect.ts";
import { touchProjectRouting, touchRouting } from "../projects/repo.ts";
import { type ErasedTable, erasedTables, type RowParent } from "../schema/erased-tables.ts";
import { jobs, skills } from "../schema/jobs.ts";
import { erasurePrograms } from "../schema/projects.ts";
import { standingVersions } from "../schema/standing.ts";
import { arrayLiteral } from "../sql/statement.ts";
import type { Erasure } from "./repo.ts";
import { whereKey } from "./walk.ts";

/** What names a program by its digest, by table. */
const digestColumns: ReadonlyMap<PgTable, PgColumn> = new Map<PgTable, PgColumn>([
  [jobs, jobs.programDigest],
  [skills, skills.programDigest],
  [standingVersions, standingVersions.programDigest],
]);

/** What a batch may delete still, and what it has. */
export type DeletionBatch = {
  readonly tx: Executor;
  readonly erasure: Erasure;
  left: number;
  /** Nothing more is done in its transaction, which holds a lock that others wait for. */
  isOver?: boolean;
  readonly counts: Map<string, number>;
};

/** Rows with others that go with them, at a time. */
const ownersMax = 100;

/** Rows of a table as `from … where …`: those for which `where` holds. */
export function rowsWhere({ table }: ErasedTable, where: SQL): SQL {
  return sql`from ${table} where ${where}`;
}

/** Rows that go with rows of `owners`: row by row of those, each by the index of what goes with it. No plan may go through the table instead. */
export function rowsAlong(erased: ErasedTable, { table, on }: RowParent, owners: SQL): SQL {
  return sql`from (select * from ${table} where ${owners}) ${sql.identifier(getTableName(table))}
    cross join lateral (select ${erased.table}.ctid, ${erased.table}.* from ${erased.table} where ${on} offset 0) ${sql.identifier(getTableName(erased.table))}`;
}

/** Deletes rows, those that go with them first. False where the batch is over before they all are gone. */
export async function deleteRows(batch: DeletionBatch, erased: ErasedTable, rows: SQL): Promise<boolean> {
  const children = erasedTables.filter(({ parents }) => parents?.some(({ table }) => table === erased.table));
  if (children.length === 0) {
    if (batch.left <= 0) return false;
    const { left } = batch;
    return (await deleteSome(batch, erased, rows)) < left;
  }
  const { key, table } = erased;
  if (key === undefined) throw new Error(`${getTableName(table)} has rows that go with its own, and no key`);
  for (;;) {
    if (batch.left <= 0) return false;
    const found = await batch.tx.orm.execute<{ id: string }>(
      sql`select ${key}::text as id ${rows} limit ${ownersMax}::int4`,
    );
    if (found.length === 0) return true;
    const isFound = sql`= any(${arrayLiteral(found.map(({ id }) => id))}::uuid[])`;
    const owners = whereKey(erased, batch.erasure.projectId, isFound);
    for (const child of children) {
      for (const parent of child.parents ?? []) {
        if (parent.table !== table) continue;
        if (!(await deleteRows(batch, child, rowsAlong(child, parent, owners)))) return false;
      }
    }
    await deleteSome(batch, erased, rowsWhere(erased, owners));
    if (found.length < ownersMax) return true;
  }
}

/** At most as many as the batch may still delete; answers how many. */
async function deleteSome(batch: DeletionBatch, { table }: ErasedTable, rows: SQL): Promise<number> {
  await notePrograms(batch.tx, batch.erasure, table, rows);
  const [gone] = await batch.tx.orm.execute<{ count: number }>(sql`with gone as (
      delete from ${table} where ctid = any(array(select ${table}.ctid ${rows} limit ${Math.max(batch.left, ownersMax)}::int4))
      returning 1)
    select count(*)::int4 as count from gone`);
  const count = gone?.count ?? 0;
  if (count > 0) await note(batch, getTableName(table), count);
  return count;
}

/** Counts, and tells nodes what they hold copies of. */
export async function note(batch: DeletionBatch, name: string, count: number): Promise<void> {
  const { tx, erasure, counts } = batch;
  batch.left -= count;
  counts.set(name, (counts.get(name) ?? 0) + count);
  if (name === "account_references" || name === "projects") await touchRouting(tx);
  // What the catalog shows: nodes read it again once its version has moved.
  if (name === "skills" && erasure.entityId !== "") await touchCatalog(tx, erasure.projectId);
  if (name === "standing_listeners" || name === "subscriptions") await touchProjectRouting(tx, erasure.projectId);
}

/** Notes which programs rows of a table run that are about to be deleted: nothing else may use them. */
async function notePrograms(tx: Executor, { id, kind }: Erasure, table: PgTable, rows: SQL): Promise<void> {
  const digest = digestColumns.get(table);
  if (digest === undefined || kind !== "entity") return;
  await tx.orm.execute(sql`insert into ${erasurePrograms} (erasure_id, digest)
    select distinct ${uuidOfId(id)}::uuid, ${digest} ${rows} on conflict do nothing`);
}
