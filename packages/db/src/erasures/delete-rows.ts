import { getTableName, inArray, type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { touchProjectRouting, touchRouting } from "../projects/repo.ts";
import { type ErasedTable, erasedTables } from "../schema/erased-tables.ts";
import type { Erasure } from "./repo.ts";

/** What a batch may delete still, and what it has. */
export type Batch = {
  readonly tx: Executor;
  readonly erasure: Erasure;
  left: number;
  readonly counts: Map<string, number>;
};

/** Rows with others that go with them, at a time. */
const ownersMax = 100;

/** Deletes rows for which `where` holds, those that go with them first. False where the batch is over before they all are gone. */
export async function deleteRows(batch: Batch, erased: ErasedTable, where: SQL): Promise<boolean> {
  const children = erasedTables.filter(({ parents }) => parents?.some(({ table }) => table === erased.table));
  if (children.length === 0) {
    if (batch.left <= 0) return false;
    const { left } = batch;
    return (await deleteSome(batch, erased, where)) < left;
  }
  const { key, table } = erased;
  if (key === undefined) throw new Error(`${getTableName(table)} has rows that go with its own, and no key`);
  for (;;) {
    if (batch.left <= 0) return false;
    const found = await batch.tx.orm
      .select({ id: sql`${key}`.mapWith(key) })
      .from(table)
      .where(where)
      .limit(ownersMax);
    if (found.length === 0) return true;
    const owners = inArray(
      key,
      found.map(({ id }) => id),
    );
    for (const child of children) {
      for (const parent of child.parents ?? []) {
        if (parent.table !== table) continue;
        const isTheirs = sql`exists (select from ${table} where ${parent.on} and ${owners})`;
        if (!(await deleteRows(batch, child, isTheirs))) return false;
      }
    }
    await deleteSome(batch, erased, owners);
    if (found.length < ownersMax) return true;
  }
}

/** At most as many as the batch may still delete; answers how many. */
async function deleteSome(batch: Batch, { table }: ErasedTable, where: SQL): Promise<number> {
  const [gone] = await batch.tx.orm.execute<{ count: number }>(sql`with gone as (
      delete from ${table} where ctid = any(array(select ${table}.ctid from ${table} where ${where} limit ${Math.max(batch.left, ownersMax)}::int4))
      returning 1)
    select count(*)::int4 as count from gone`);
  const count = gone?.count ?? 0;
  if (count > 0) await note(batch, getTableName(table), count);
  return count;
}

/** Counts, and tells nodes what they hold copies of. */
async function note(batch: Batch, name: string, count: number): Promise<void> {
  const { tx, erasure, counts } = batch;
  batch.left -= count;
  counts.set(name, (counts.get(name) ?? 0) + count);
  if (name === "account_references" || name === "projects") await touchRouting(tx);
  if (name === "standing_listeners" || name === "subscriptions") await touchProjectRouting(tx, erasure.projectId);
}
