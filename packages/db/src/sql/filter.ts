import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/**
 * Returns the condition that two values are equal, in a form that no index serves, so other conditions find the rows. A key finds one row
 * and a project thousands. A plan made while the database was small may use the wrong one of the two.
 */
export function filterBy(column: string, value: string): string {
  return `${column} is not distinct from ${value}`;
}

/** The same for the query builder, with the value encoded for its column. */
export function filterColumn(column: PgColumn, value: unknown): SQL {
  return sql`${column} is not distinct from ${sql.param(value, column)}`;
}

/**
 * Compares keys part by part. Write several rows in this order if other transactions write them too. Two statements that lock the same rows
 * in different orders wait for each other, and PostgreSQL ends one of them (40P01).
 */
export function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

/** Maximum rows scanned for one page of a list if a filter has no index. The page may then be short, and the next page continues from there. */
export const walkRowsMax = 20_000;

/** Rows found for a page, newest first. `walkedTo`: where the scan stopped; undefined if no rows are left below. */
export type WalkedPage<Row extends { readonly id: string }> = {
  readonly rows: Row[];
  readonly walkedTo: Row["id"] | undefined;
};

/** Position and bounds of a scan, as SQL. */
type ScanOptions = {
  /** Columns of the index except the id, its last one, each with its value. */
  readonly key: Readonly<Record<string, string>>;
  /** Condition of a partial index in its exact words, or a condition that only this index fits. */
  readonly condition?: string;
  readonly from: string;
  readonly before: string;
  /** Maximum rows to scan. */
  readonly max: string;
};

/** Returns the order of a scan, equal to its index's. An outer query must name it too, or PostgreSQL sorts the rows. */
export function scanOrder(key: Readonly<Record<string, string>>): string {
  return [...Object.keys(key), "id"].map((name) => `${name} desc`).join(", ");
}

/**
 * Returns a backward scan of one range of an index. It compares rows in the index's order, so no other index fits. Put filters outside:
 * inside, the limit would count only the matching rows.
 */
export function scanOf(table: string, columns: string, { key, condition, from, before, max }: ScanOptions): string {
  const row = `(${[...Object.keys(key), "id"].join(", ")})`;
  const bound = (id: string) => `(${[...Object.values(key), id].join(", ")})`;
  const conditions = [condition, `${row} >= ${bound(from)}`, `${row} < ${bound(before)}`];
  const where = conditions.filter((one) => one !== undefined).join(" and ");
  return `select ${columns} from ${table} where ${where} order by ${scanOrder(key)} limit ${max}`;
}

/** Returns the query for the last row of a scan that reached its maximum: rows below it are unknown. */
export function endOf(table: string, options: ScanOptions): string {
  return `select id from (${scanOf(table, "id", options)}) e offset ${options.max} - 1 limit 1`;
}
