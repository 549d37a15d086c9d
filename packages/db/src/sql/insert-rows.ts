import type { PgTable } from "drizzle-orm/pg-core";
import type postgres from "postgres";
import type { Executor } from "../connect.ts";
import { type ColumnName, type FieldsOf, fieldsBut, type ValuesOf } from "./codec.ts";
import { compose, query } from "./compose.ts";
import { rows } from "./select-list.ts";
import type { StatementResult } from "./statement.ts";

/** Columns that the store can fill by itself. */
type ColumnWithDefault<Table extends PgTable> = {
  [Name in ColumnName<Table>]: undefined extends Table["$inferInsert"][Name] ? Name : never;
}[ColumnName<Table>];

/** How rows are inserted. */
export type InsertOptions<Left> = {
  /** Columns that are left to their defaults; every other one is written. */
  readonly leaves?: readonly Left[];
  /** What follows the insert: `on conflict …`, `returning …`. */
  readonly after?: string;
};

/**
 * An insert of any number of rows in one statement, an array a column, made from the table's declaration: a row that lacks a
 * column does not compile.
 */
export function insertRows<Table extends PgTable, const Left extends ColumnWithDefault<Table> = never>(
  name: string,
  table: Table,
  { leaves = [], after = "" }: InsertOptions<Left> = {},
): (
  db: Executor | postgres.ISql,
  list: readonly ValuesOf<FieldsOf<Table, Exclude<ColumnName<Table>, Left>>>[],
) => Promise<StatementResult<{ id: string }>> {
  const insert = compose(name, { list: rows(fieldsBut(table, ...leaves)) }, ({ list }) => {
    return query<{ id: string }>`${list.insertInto(table)} ${after}`;
  });
  return (db, list) => insert(db, { list });
}
