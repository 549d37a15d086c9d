import { parseExactJson } from "@svc/core";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { PgArray, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import type { Codec, ColumnName, Fields, Row, ValuesOf } from "./codec.ts";
import type { StatementParameter } from "./statement.ts";

// Limits no depth. svc wrote the stored documents itself with JSON.stringify, so their depth is already limited.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/** Columns of an SQL query: the text of the select list, and a function that decodes the returned rows. */
export type SelectList<Read extends object> = {
  /** SQL of the select list, for example `j.id as "id", j.project_id as "projectId", …`. */
  readonly text: string;
  /** Decodes the row from the PostgreSQL driver and changes it in place. Other properties stay. */
  read<Raw extends RawRow<Read>>(row: Raw): Read & Omit<Raw, keyof Read>;
};

/** A database row as the PostgreSQL driver returns it, before the decoder of its select list has converted its values. */
export type RawRow<Read extends object> = { [Name in keyof Read]: unknown };

type Reader = (stored: unknown) => unknown;
/** The expression that selects a column, and the decoder of the column's value. The decoder is undefined if the value needs no decoding. */
type ColumnSelection = { readonly expression: string; readonly read: Reader | undefined };

/**
 * Returns the select list for columns of a table, with a decoder of the rows. Each column stays a separate column of the result. `alias`:
 * name of the table's row in the query.
 */
export function selectList<Table extends PgTable, const Name extends ColumnName<Table>>(
  table: Table,
  names: readonly Name[],
  alias?: string,
): SelectList<Row<Table, Name>> {
  const list = columnsOf(table, names, alias).map(({ name, column, reference }) => ({
    name,
    ...selected(column, reference),
  }));
  const readers = list.flatMap(({ name, read }) => (read === undefined ? [] : [{ name, read }]));
  return {
    text: list.map(({ name, expression }) => `${expression} as "${name}"`).join(", "),
    read(row) {
      decodeInPlace(row, readers);
      return row as never;
    },
  };
}

/**
 * Returns a select list in which most columns of a table are joined to one JSON text; bytes and ids stay separate. For a row with many
 * columns, parsing one text costs less than many decoders. `alias`: name of the table's row in the query.
 */
export function packedList<Table extends PgTable, const Name extends ColumnName<Table>>(
  table: Table,
  names: readonly Name[],
  alias?: string,
): PackedList<Row<Table, Name>> {
  const columns = columnsOf(table, names, alias).map((entry) => ({ ...entry, read: readerOf(entry.column) }));
  const apart = columns.filter(({ column }) => ["bytea", "uuid"].includes(column.getSQLType()));
  const packed = columns
    .filter((entry) => !apart.includes(entry))
    .map(({ name, column, reference }) => ({ name, ...selectedAsJson(column, reference) }));
  const readers = packed.flatMap(({ name, read }) => (read === undefined ? [] : [{ name, read }]));
  const pairs = packed.map(({ name, expression }) => `'${name}', ${expression}`).join(", ");
  return {
    text: [
      ...apart.map(({ name, reference }) => `${reference} as "${name}"`),
      `json_build_object(${pairs})::text as packed`,
    ].join(", "),
    read(row) {
      const read = parseExactJson(row.packed, unbounded) as Record<string, unknown>;
      decodeInPlace(read, readers);
      for (const { name, read: readOne } of apart) {
        const stored = row[name];
        read[name] = stored === null || readOne === undefined ? stored : readOne(stored);
      }
      return read as Row<Table, Name>;
    },
  };
}

/**
 * A row as the PostgreSQL driver returns it. Most of its columns are in the one JSON text `packed`. Its columns with bytes and ids are
 * separate.
 */
export type PackedRow = { readonly packed: string; readonly [apart: string]: unknown };

/**
 * Selected columns that PostgreSQL returns as one JSON text, because parsing one JSON text costs less than many decoders. `text`: the SQL of
 * the selection. `read`: returns the decoded row.
 */
export type PackedList<Read extends object> = { readonly text: string; read(row: PackedRow): Read };

function decodeInPlace(row: Record<string, unknown>, readers: readonly { name: string; read: Reader }[]): void {
  for (const { name, read } of readers) {
    const stored = row[name];
    if (stored === null) continue;
    const value = read(stored);
    // Decoding leaves most words and documents unchanged. So the row is written only if the decoded value differs.
    if (value !== stored) row[name] = value;
  }
}

function columnsOf(table: PgTable, names: readonly string[], alias: string | undefined) {
  const columns: Record<string, PgColumn> = getTableColumns(table);
  return names.map((name) => {
    const column = columns[name];
    if (column === undefined) throw new Error(`the table has no column ${name}`);
    return { name, column, reference: `${alias === undefined ? "" : `${alias}.`}"${column.name}"` };
  });
}

function selected(column: PgColumn, reference: string): ColumnSelection {
  if (is(column, PgArray)) {
    const readAll = readerOfArray(column);
    return { expression: `to_json(${reference})::text`, read: (stored) => readAll(JSON.parse(String(stored))) };
  }
  switch (column.getSQLType()) {
    case "jsonb":
      return { expression: `${reference}::text`, read: (stored) => column.mapFromDriverValue(stored) };
    case "timestamp (3) with time zone":
      return { expression: `(extract(epoch from ${reference}) * 1000)::float8`, read: undefined };
    case "bigint":
      return { expression: reference, read: Number };
    default:
      return { expression: reference, read: readerOf(column) };
  }
}

function selectedAsJson(column: PgColumn, reference: string): ColumnSelection {
  if (is(column, PgArray)) return { expression: reference, read: readerOfArray(column) };
  if (column.getSQLType() === "timestamp (3) with time zone") {
    return { expression: `extract(epoch from ${reference}) * 1000`, read: undefined };
  }
  return { expression: reference, read: readerOf(column) };
}

/** Returns the decoder of a column's values; undefined if the value needs none. Only columns of svc's own types need one. */
function readerOf(column: PgColumn): Reader | undefined {
  if (column.columnType !== "PgCustomColumn" || column.getSQLType() === "bytea") return undefined;
  return (stored) => column.mapFromDriverValue(stored);
}

function readerOfArray(column: PgColumn): (stored: unknown) => unknown {
  const read = is(column, PgArray) ? readerOf(column.baseColumn as PgColumn) : undefined;
  return (stored) => (read === undefined || !Array.isArray(stored) ? stored : stored.map(read));
}

/**
 * Some parameters of a SQL statement that belong together. The functions return the parameters' names for the SQL text, and encode the
 * parameters' values for the PostgreSQL driver.
 */
export type StatementPart<Value, Names> = {
  /** Number of SQL parameters in this part (group of parameters). */
  readonly size: number;
  /**
   * Returns the names of the SQL parameters in this part of a statement. `first`: number of the first parameter, such as 3 for `$3`.
   * `isLone`: true if this part has exactly one row of values.
   */
  names(first: number, isLone?: boolean): Names;
  /**
   * Encodes the values of the SQL parameters in this part of a statement, and appends them to `into`. `isLone`: true if this part has
   * exactly one row of values.
   */
  encode(value: Value, into: StatementParameter[], isLone?: boolean): void;
  /** Returns the number of rows that the value of this part contains. */
  count(value: Value): number;
};

/** Names of the SQL parameters for the values of one row, by field. Each value is one parameter (for example `$1::uuid`). */
type ValueNames<Shape extends Fields> = { readonly [Name in keyof Shape]: string };

/** Returns the part of a statement for the values of one row. Each field of the row becomes one parameter, such as `$1::uuid`. */
export function values<Shape extends Fields>(shape: Shape): StatementPart<ValuesOf<Shape>, ValueNames<Shape>> {
  const fields = entriesOf(shape);
  return {
    size: fields.length,
    names: (first) =>
      Object.fromEntries(
        fields.map(({ key, codec }, index) => [key, `$${first + index}::${codec.type}`]),
      ) as ValueNames<Shape>,
    encode(value, into) {
      for (const { key, codec } of fields) into.push(codec.encode(value[key] as never));
    },
    count: () => 1,
  };
}

/** A part of an SQL statement that is included in the text only if its value is `true`. It adds no parameters. */
export const flag: StatementPart<boolean, undefined> = {
  size: 0,
  names: () => undefined,
  encode: () => {},
  count: Number,
};

/** Names of SQL parameters for rows. Several rows are passed as one array per column; a single row is passed as one value per column. */
type RowNames<Name extends string = string> = {
  /** SQL of each array parameter, such as `$2::int4[]`. The array contains the values of one field, and the key is the field's name. */
  readonly arrays: Readonly<Record<Name, string>>;
  /** Names of the rows' columns, for example `job_id, seq`. */
  readonly columns: string;
  /** Returns the SQL that turns the arrays into rows, for example `unnest($1::uuid[], $2::int4[]) as i(job_id, seq)`. */
  from(alias: string): string;
  /**
   * Returns the same SQL as `from`, with one more column that numbers the rows from 1. For example: `unnest(…) with ordinality as i(job_id,
   * seq, place)`.
   */
  fromOrdered(alias: string, place: string): string;
  /** Returns the SQL for the values of one row, to use in a select list: `i.job_id, i.seq`. */
  values(alias: string): string;
  /** Returns the assignments with which an UPDATE sets columns to the values of one row: `status = i.status, …`. */
  set(alias: string, names: readonly Name[]): string;
  /**
   * Returns the SQL that sets columns to new values, but keeps the old value of a column if the new value is null: `params =
   * coalesce(i.params, j.params), …`. `of`: alias of the row that is changed.
   */
  setOrKeep(alias: string, names: readonly Name[], of: string): string;
  /** Returns the SQL that inserts the rows into a table: `insert into … select … from unnest(…) as i`. */
  insertInto(table: PgTable): string;
};

/**
 * Returns the part of a statement that passes many rows as parameters: one array for each column. So the text of the statement is the same
 * for any number of rows.
 */
export function rows<Shape extends Fields>(
  shape: Shape,
): StatementPart<readonly ValuesOf<Shape>[], RowNames<keyof Shape & string>> {
  const fields = entriesOf(shape);
  const columns = fields.map(({ name }) => name).join(", ");
  return {
    size: fields.length,
    encode(list, into, isLone = false) {
      const encode = ({ key, codec }: Entry) => list.map((row) => codec.encode(row[key] as never));
      for (const field of fields) into.push(isLone ? (encode(field)[0] ?? null) : field.codec.literal(encode(field)));
    },
    count: (list) => list.length,
    names(first, isLone = false) {
      const list = fields.map(({ key, codec }, index) => [key, `$${first + index}::${codec.arrayType}`] as const);
      const arrays = list.map(([, array]) => array).join(", ");
      // A single row is passed as plain values. For UNNEST, PostgreSQL makes a separate row store per array, which costs more than the rest
      // of most statements.
      const lone = list.map(([, array]) => array.slice(0, -"[]".length)).join(", ");
      const from = (alias: string) => `${isLone ? `(select ${lone})` : `unnest(${arrays})`} as ${alias}(${columns})`;
      const valuesOf = (alias: string) => fields.map(({ codec, name }) => codec.element(`${alias}.${name}`)).join(", ");
      const assigned = (keys: readonly string[], value: (column: string, codec: Codec<never>) => string) =>
        fields
          .filter(({ key }) => keys.includes(key))
          .map(({ name, codec }) => `${name} = ${value(name, codec)}`)
          .join(", ");
      return {
        arrays: Object.fromEntries(list) as Record<keyof Shape & string, string>,
        columns,
        from,
        fromOrdered: (alias, place) => `unnest(${arrays}) with ordinality as ${alias}(${columns}, ${place})`,
        values: valuesOf,
        set: (alias, keys) => assigned(keys, (column, codec) => codec.element(`${alias}.${column}`)),
        setOrKeep: (alias, keys, of) =>
          assigned(keys, (column, codec) => `coalesce(${codec.element(`${alias}.${column}`)}, ${of}.${column})`),
        insertInto: (table) =>
          `insert into ${getTableName(table)} (${columns}) select ${valuesOf("i")} from ${from("i")}`,
      };
    },
  };
}

type Entry = { readonly key: string; readonly name: string; readonly codec: Codec<never> };

function entriesOf(shape: Fields): readonly Entry[] {
  return Object.entries(shape).map(([key, codec]) => ({ key, codec, name: codec.name ?? snakeCase(key) }));
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
