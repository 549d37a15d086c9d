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
