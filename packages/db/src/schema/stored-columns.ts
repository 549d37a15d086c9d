import { getTableColumns, getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import * as schema from "./index.ts";

/** A column of a database table. `isWord`: true if its values are words of a fixed set, such as states. */
export type StoredColumn = {
  readonly table: string;
  readonly column: string;
  /** The type's name in PostgreSQL, such as `text[]`. */
  readonly sqlType: string;
  readonly isWord: boolean;
};

/** Returns every column of every table from the declarations. So a check of all stored data includes new tables. */
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
