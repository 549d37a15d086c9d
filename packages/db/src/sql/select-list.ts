import { parseExactJson } from "@svc/core";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { PgArray, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import type { Codec, ColumnName, Fields, Row, ValuesOf } from "./codec.ts";
import type { StatementParameter } from "./statement.ts";

// Rows are not nested by strangers: what a document holds was written by JSON.stringify.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/** Columns of a select list, and what reads a row of them. */
export type SelectList<Read extends object> = {
  /** `j.id as "id", j.project_id as "projectId", …` */
  readonly text: string;
  /** Takes the row as the driver gives it, and changes it in place. What else stands in it stays. */
  read<Raw extends RawRow<Read>>(row: Raw): Read & Omit<Raw, keyof Read>;
};

/** A row of a select list as the driver gives it. */
export type RawRow<Read extends object> = { [Name in keyof Read]: unknown };

type Reader = (stored: unknown) => unknown;
/** How a column is selected, and what reads what comes back; undefined where it comes as it is. */
type ColumnSelection = { readonly expression: string; readonly read: Reader | undefined };

/** Columns of a table, each in a column of the result. `alias` names the table's row. */
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
 * Columns of a table in one column of JSON text, bytes and ids apart: for a row of many columns, one parse costs less than a decoder a
 * column. `alias` names the table's row.
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

/** A row of a packed list as the driver gives it. */
export type PackedRow = { readonly packed: string; readonly [apart: string]: unknown };

/** Columns in one column of JSON text, and what reads a row of them. */
export type PackedList<Read extends object> = { readonly text: string; read(row: PackedRow): Read };

function decodeInPlace(row: Record<string, unknown>, readers: readonly { name: string; read: Reader }[]): void {
  for (const { name, read } of readers) {
    const stored = row[name];
    if (stored === null) continue;
    const value = read(stored);
    // Most words and documents are read as they are.
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

/** Only columns of our own types change what the driver gives. */
function readerOf(column: PgColumn): Reader | undefined {
  if (column.columnType !== "PgCustomColumn" || column.getSQLType() === "bytea") return undefined;
  return (stored) => column.mapFromDriverValue(stored);
}

function readerOfArray(column: PgColumn): (stored: unknown) => unknown {
  const read = is(column, PgArray) ? readerOf(column.baseColumn as PgColumn) : undefined;
  return (stored) => (read === undefined || !Array.isArray(stored) ? stored : stored.map(read));
}

/** Parameters of a statement that belong together: what its text calls them, and how they are encoded. */
export type StatementPart<Value, Names> = {
  /** How many there are. */
  readonly size: number;
  /** What the text calls them when the first is `$first`. */
  names(first: number): Names;
  /** Adds their values to those of the parts before. */
  encode(value: Value, into: StatementParameter[]): void;
};

/** A row's values as single parameters, by the names of their fields: `$1::uuid`. */
type ValueNames<Shape extends Fields> = { readonly [Name in keyof Shape]: string };

/** Single parameters. */
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
  };
}

/** Rows that come as one array a column. */
type RowNames<Name extends string = string> = {
  /** The arrays themselves, by the names of their fields: `$2::int4[]`. */
  readonly arrays: Readonly<Record<Name, string>>;
  /** Names of their columns: `job_id, seq`. */
  readonly columns: string;
  /** `unnest($1::uuid[], $2::int4[]) as i(job_id, seq)`. */
  from(alias: string): string;
  /** The same, with a column that counts from 1. */
  fromOrdered(alias: string, place: string): string;
  /** The values of one of them, for a select list: `i.job_id, i.seq`. */
  values(alias: string): string;
  /** Columns that an UPDATE takes from one of them: `status = i.status, …`. */
  set(alias: string, names: readonly Name[]): string;
  /** The same where a null says that the row `of` keeps what it has: `params = coalesce(i.params, j.params), …`. */
  setOrKeep(alias: string, names: readonly Name[], of: string): string;
  /** `insert into … select … from unnest(…) as i`. */
  insertInto(table: PgTable): string;
};

/** Rows; a statement takes any number of them, and its text stays the same. */
export function rows<Shape extends Fields>(
  shape: Shape,
): StatementPart<readonly ValuesOf<Shape>[], RowNames<keyof Shape & string>> {
  const fields = entriesOf(shape);
  const columns = fields.map(({ name }) => name).join(", ");
  return {
    size: fields.length,
    encode(list, into) {
      for (const { key, codec } of fields) into.push(codec.literal(list.map((row) => codec.encode(row[key] as never))));
    },
    names(first) {
      const list = fields.map(({ key, codec }, index) => [key, `$${first + index}::${codec.arrayType}`] as const);
      const arrays = list.map(([, array]) => array).join(", ");
      const from = (alias: string) => `unnest(${arrays}) as ${alias}(${columns})`;
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
