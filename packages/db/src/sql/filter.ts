import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/**
 * Returns the SQL condition that a column has a value, in a form for which PostgreSQL uses no index. PostgreSQL then finds the rows by the
 * remaining conditions. Use it for a condition that matches thousands of rows, such as the project. A plan made while the database was
 * small might otherwise use the index of that condition.
 */
export function filterBy(column: string, value: string): string {
  return `${column} is not distinct from ${value}`;
}

/** Returns the SQL condition that a column equals a value, which may be null. PostgreSQL uses no index for this condition. */
export function filterColumn(column: PgColumn, value: unknown): SQL {
  return sql`${column} is not distinct from ${sql.param(value, column)}`;
}

/**
 * Compares two keys part by part. Write several rows in this order if other transactions write the same rows too. Otherwise, two statements
 * that lock the same rows in different orders wait for each other, and PostgreSQL ends one of them (40P01).
 */
export function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

/**
 * Maximum rows scanned for one page of a list if a filter has no index. A page may then have fewer rows than requested; the next page
 * continues where the scan stopped.
 */
export const walkRowsMax = 20_000;

/**
 * Rows that the scan for one page of a list has found, newest first. `walkedTo`: id at which the scan stopped; undefined if the scan
 * reached the last row.
 */
export type WalkedPage<Row extends { readonly id: string }> = {
  readonly rows: Row[];
  readonly walkedTo: Row["id"] | undefined;
};

/** Position and bounds of a scan, as SQL. */
type ScanOptions = {
  /** Columns of the scanned index and the value that each must have. The index ends with the column `id`, which is not listed here. */
  readonly key: Readonly<Record<string, string>>;
  /**
   * Additional condition of the scan. If the index is partial, this is the condition of the index in exactly the same words. Otherwise it
   * is a condition that makes PostgreSQL choose this index.
   */
  readonly condition?: string;
  readonly from: string;
  readonly before: string;
  /** Maximum rows to scan. */
  readonly max: string;
};

/**
 * Returns the ORDER BY of a scan, which is the order of the scanned index. An outer query must name this order too; otherwise PostgreSQL
 * sorts the rows again.
 */
export function scanOrder(key: Readonly<Record<string, string>>): string {
  return [...Object.keys(key), "id"].map((name) => `${name} desc`).join(", ");
}

/**
 * Returns the SQL of a query that reads a range of an index backwards. The query reads at most `max` rows and returns all of them. To
 * filter these rows, put the query into another query.
 */
export function scanOf(table: string, columns: string, { key, condition, from, before, max }: ScanOptions): string {
  // Whole rows are compared in the order of the index, so that PostgreSQL cannot use another index.
  const row = `(${[...Object.keys(key), "id"].join(", ")})`;
  const bound = (id: string) => `(${[...Object.values(key), id].join(", ")})`;
  const conditions = [condition, `${row} >= ${bound(from)}`, `${row} < ${bound(before)}`];
  const where = conditions.filter((one) => one !== undefined).join(" and ");
  return `select ${columns} from ${table} where ${where} order by ${scanOrder(key)} limit ${max}`;
}

/**
 * Returns an SQL query for the row at which a scan stopped because it reached its maximum number of rows. The scan did not read the rows
 * below it.
 */
export function endOf(table: string, options: ScanOptions): string {
  return `select id from (${scanOf(table, "id", options)}) e offset ${options.max} - 1 limit 1`;
}
