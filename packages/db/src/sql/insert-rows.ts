import type { PgTable } from "drizzle-orm/pg-core";
import type postgres from "postgres";
import type { Executor } from "../connect.ts";
import { type ColumnName, type FieldsOf, fieldsBut, type ValuesOf } from "./codec.ts";
import { compose, query } from "./compose.ts";
import { rows } from "./select-list.ts";
import type { StatementResult } from "./statement.ts";

/** Columns with a default in the database. */
type ColumnWithDefault<Table extends PgTable> = {
  [Name in ColumnName<Table>]: undefined extends Table["$inferInsert"][Name] ? Name : never;
}[ColumnName<Table>];

/** Options of `insertRows`, which makes a function that inserts rows into a table: columns to leave out, and SQL after the insert. */
export type InsertOptions<Left> = {
  /** Columns that get their defaults from the database. The statement writes all other columns. */
  readonly leaves?: readonly Left[];
  /** SQL after the insert: `on conflict …`, `returning …`. */
  readonly after?: string;
  /** True if many inserts have exactly one row. The statement then has a second SQL text for one row, without arrays. */
  readonly isOftenLone?: boolean;
};

/**
 * Returns a function that inserts any number of rows with one SQL statement, which has one array parameter for each column. The columns come
 * from the table's declaration, so a row that lacks a column does not compile.
 */
export function insertRows<Table extends PgTable, const Left extends ColumnWithDefault<Table> = never>(
  name: string,
  table: Table,
  { leaves = [], after = "", isOftenLone = false }: InsertOptions<Left> = {},
): (
  db: Executor | postgres.ISql,
  list: readonly ValuesOf<FieldsOf<Table, Exclude<ColumnName<Table>, Left>>>[],
) => Promise<StatementResult<{ id: string }>> {
  const insert = compose(
    name,
    { list: rows(fieldsBut(table, ...leaves)) },
    ({ list }) => query<{ id: string }>`${list.insertInto(table)} ${after}`,
    isOftenLone ? { lone: { parts: ["list"], isLone: true } } : {},
  );
  return (db, list) => insert(db, { list });
}
