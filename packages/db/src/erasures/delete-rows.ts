import { uuidOfId } from "@svc/core";
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { touchCatalog } from "../catalog/touch.ts";
import type { Executor } from "../connect.ts";
import { touchProjectRouting, touchRouting, touchSubscriptionRouting } from "../projects/repo.ts";
import { type ErasedTable, erasedTables, type RowParent } from "../schema/erased-tables.ts";
import { jobs, skills } from "../schema/jobs.ts";
import { erasurePrograms } from "../schema/projects.ts";
import { standingVersions } from "../schema/standing.ts";
import { arrayLiteral } from "../sql/statement.ts";
import type { Erasure } from "./repo.ts";
import { whereKey } from "./walk.ts";

/** For each table whose rows use programs: the column that holds the digest of the program. */
const digestColumns: ReadonlyMap<PgTable, PgColumn> = new Map<PgTable, PgColumn>([
  [jobs, jobs.programDigest],
  [skills, skills.programDigest],
  [standingVersions, standingVersions.programDigest],
]);

/**
 * A batch of rows that one transaction of an erasure deletes. `left`: number of rows that it may still delete. `counts`: deleted rows by
 * table, including those of earlier batches.
 */
export type DeletionBatch = {
  readonly tx: Executor;
  readonly erasure: Erasure;
  left: number;
  /**
   * True if no other work may follow in the transaction of this batch of deletions, because the transaction holds a lock that others wait
   * for.
   */
  isOver?: boolean;
  readonly counts: Map<string, number>;
};

/** Maximum number of parent rows that one step deletes. */
const ownersMax = 100;

/** Returns the SQL text `from … where …` for the rows of a table that satisfy the condition `where`. */
export function rowsWhere({ table }: ErasedTable, where: SQL): SQL {
  return sql`from ${table} where ${where}`;
}

/**
 * Returns the SQL text `from …` for the rows of the table `erased` that belong to parent rows. `owners`: the condition that selects the
 * parent rows.
 */
export function rowsAlong(erased: ErasedTable, { table, on }: RowParent, owners: SQL): SQL {
  // With `offset 0`, PostgreSQL looks up the rows of each parent by an index and cannot scan the whole table.
  return sql`from (select * from ${table} where ${owners}) ${sql.identifier(getTableName(table))}
    cross join lateral (select ${erased.table}.ctid, ${erased.table}.* from ${erased.table} where ${on} offset 0) ${sql.identifier(getTableName(erased.table))}`;
}

/**
 * Deletes the rows that `rows` selects. For each of these rows, first deletes the rows of other tables that depend on it. Returns false if
 * the batch reached its maximum before all rows were deleted.
 */
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

/** Deletes rows that `rows` selects, and returns their number. Deletes at most `batch.left` rows, or 100 if `batch.left` is smaller. */
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

/**
 * Adds a number of deleted rows to the counts of an erasure's batch. For some tables it also increments the versions of cached data, so that
 * every node reads that data again.
 */
export async function note(batch: DeletionBatch, name: string, count: number): Promise<void> {
  const { tx, erasure, counts } = batch;
  batch.left -= count;
  counts.set(name, (counts.get(name) ?? 0) + count);
  if (name === "account_references" || name === "projects") await touchRouting(tx);
  // Increments the catalog's version. Nodes then read the skills of the catalog and the secrets of its webhooks again.
  if ((name === "skills" && erasure.entityId !== "") || name === "webhook_secrets")
    await touchCatalog(tx, erasure.projectId);
  if (name === "standing_listeners") await touchProjectRouting(tx, erasure.projectId);
  if (name === "subscriptions") await touchSubscriptionRouting(tx, erasure.projectId, [erasure.entityId]);
}

/** Records the programs of rows before these rows are deleted. svc later checks if other rows still use these programs. */
async function notePrograms(tx: Executor, { id, kind }: Erasure, table: PgTable, rows: SQL): Promise<void> {
  const digest = digestColumns.get(table);
  if (digest === undefined || kind !== "entity") return;
  await tx.orm.execute(sql`insert into ${erasurePrograms} (erasure_id, digest)
    select distinct ${uuidOfId(id)}::uuid, ${digest} ${rows} on conflict do nothing`);
}
