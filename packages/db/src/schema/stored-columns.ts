import { getTableColumns, getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import * as schema from "./index.ts";

/** A column that is declared. `isWord`: it holds one of a closed set of words. */
export type StoredColumn = {
  readonly table: string;
  readonly column: string;
  /** As PostgreSQL names it, such as `text[]`. */
  readonly sqlType: string;
  readonly isWord: boolean;
};

/** Every column of every table, as declared: what is checked of all that is stored covers a table that is made later. */
export function storedColumns(): readonly StoredColumn[] {
  return Object.values(schema).flatMap((table) => {
    if (!is(table, PgTable)) return [];
    return Object.values(getTableColumns(table)).map((column) => ({
      table: getTableName(table),
      column: column.name,
      sqlType: column.getSQLType(),
      isWord: column.columnType === "PgCustomColumn" && column.getSQLType() === "text",
    }));
  });
}
