import { getTableColumns, getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import * as schema from "./index.ts";

/** A declared column. `isWord`: its values are a closed set of words. */
export type StoredColumn = {
  readonly table: string;
  readonly column: string;
  /** PostgreSQL's name of the type, such as `text[]`. */
  readonly sqlType: string;
  readonly isWord: boolean;
};

/** Returns every column of every table, from the declarations, so that checks over all stored data include new tables. */
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
