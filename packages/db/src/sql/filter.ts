import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/**
 * Whether two values are the same, as a condition that no index serves: rows are found by the others. A key finds one row and its
 * project finds thousands, and a plan made while the store was small may take the one for the other.
 */
export function filterBy(column: string, value: string): string {
  return `${column} is not distinct from ${value}`;
}

/** The same for the query builder, the value encoded as its column is. */
export function filterColumn(column: PgColumn, value: unknown): SQL {
  return sql`${column} is not distinct from ${sql.param(value, column)}`;
}

/**
 * Compares keys part by part. Whoever writes several rows that others write too does so in this order: two statements that lock the same rows
 * in different orders each wait for the other, and PostgreSQL ends one of them (40P01).
 */
export function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

/** Rows that one page of a list looks at, at most, where a filter has no index: a page may be short then, and the next goes on from there. */
export const walkRowsMax = 20_000;

/** The rows of a page that were found, newest first, and where it stopped looking; undefined where there is nothing below. */
export type WalkedPage<Row extends { readonly id: string }> = {
  readonly rows: Row[];
  readonly walkedTo: Row["id"] | undefined;
};

/** Where a scan goes, as SQL. */
type ScanOptions = {
  /** The columns of the index but the id, which is its last, each with its value. */
  readonly key: Readonly<Record<string, string>>;
  /** The condition of a partial index in its words; or what tells its index from another that begins alike. */
  readonly condition?: string;
  readonly from: string;
  readonly before: string;
  /** Rows that it looks at, at most. */
  readonly max: string;
};

/** The order of a scan, which is that of its index: what selects from it names it too, or its rows are sorted. */
export function scanOrder(key: Readonly<Record<string, string>>): string {
  return [...Object.keys(key), "id"].map((name) => `${name} desc`).join(", ");
}

/**
 * A backward scan of one place in an index. Rows are compared as the index orders them, so that nothing else fits. What filters it stands
 * outside: within, the limit would count only the rows that fit.
 */
export function scanOf(table: string, columns: string, { key, condition, from, before, max }: ScanOptions): string {
  const row = `(${[...Object.keys(key), "id"].join(", ")})`;
  const bound = (id: string) => `(${[...Object.values(key), id].join(", ")})`;
  const conditions = [condition, `${row} >= ${bound(from)}`, `${row} < ${bound(before)}`];
  const where = conditions.filter((one) => one !== undefined).join(" and ");
  return `select ${columns} from ${table} where ${where} order by ${scanOrder(key)} limit ${max}`;
}

/** The last of the rows that such a scan looks at, where it looks at as many as it may: what is below is not known. */
export function endOf(table: string, options: ScanOptions): string {
  return `select id from (${scanOf(table, "id", options)}) e offset ${options.max} - 1 limit 1`;
}
