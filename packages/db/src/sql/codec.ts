import { type Id, type IdPrefix, isoTime, uuidOfId } from "@svc/core";
import { type Column, getTableColumns } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { type ArrayElement, arrayLiteral, bytesArrayLiteral, plainArrayLiteral } from "./statement.ts";

/** Converts values of one type in TypeScript to parameters of an SQL statement. */
export type Codec<Value> = {
  /** SQL type of a parameter, for example `uuid`. */
  readonly type: string;
  /** SQL type of an array whose elements have `type`, for example `uuid[]`. */
  readonly arrayType: string;
  /** The column's name in SQL; undefined if the value is not a column. */
  readonly name: string | undefined;
  /** Returns the value as a parameter, or as an element of an array parameter. Null and undefined become SQL's NULL. */
  encode(value: Value): EncodedValue;
  /** Returns the text of a PostgreSQL array that has these encoded values as elements. */
  literal(encoded: readonly EncodedValue[]): string;
  /** Returns the SQL that reads one element of an array. An element that contains a list is a text, so it is cast: `e.chain::text[]`. */
  element(reference: string): string;
};

type EncodedValue = ArrayElement | Uint8Array;

/** Names of a table's columns in code. */
export type ColumnName<Table extends PgTable> = keyof Table["$inferSelect"] & string;

/** A row of a table as it is read. With `Name`, only the columns of these names. */
export type Row<Table extends PgTable, Name extends ColumnName<Table> = ColumnName<Table>> = {
  [Key in Name]: Table["$inferSelect"][Key];
};

/** A row of a table as it is written. With `Name`, only the columns of these names. Each column needs a value, which may be null. */
export type NewRow<Table extends PgTable, Name extends ColumnName<Table> = ColumnName<Table>> = {
  readonly [Key in Name]: WrittenValue<Table["$inferSelect"][Key]>;
};

type WrittenValue<Value> = Value extends Buffer
  ? Uint8Array
  : Value extends null
    ? null | undefined
    : Value extends (infer Element)[]
      ? readonly Element[]
      : Value;

/** A group of statement parameters: for each value, its name in code and its codec (the encoder of the value). */
export type Fields = Readonly<Record<string, Codec<never>>>;

/** Values for the fields of `Shape`, one for each field. The codec (encoder) of a field encodes the field's value. */
export type ValuesOf<Shape extends Fields> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Codec<infer Value> ? Value : never;
};

/** Codecs (encoders of statement parameters) for columns of a table, by the names of the columns in code. */
export type FieldsOf<Table extends PgTable, Name extends ColumnName<Table>> = {
  readonly [Key in Name]: Codec<NewRow<Table>[Key]>;
};

/** Returns the codecs (encoders of statement parameters) of the given columns of a table, by their names in code. */
export function fieldsOf<Table extends PgTable, const Name extends ColumnName<Table>>(
  table: Table,
  ...names: readonly Name[]
): FieldsOf<Table, Name> {
  const columns: Record<string, PgColumn> = getTableColumns(table);
  const fields = names.map((name) => [name, codecOf(columns[name] ?? missing(name))]);
  return Object.fromEntries(fields) as FieldsOf<Table, Name>;
}

/**
 * Returns the codecs (encoders of statement parameters) of all columns of a table except those in `without`, for example columns that the
 * statement sets itself or leaves to their defaults.
 */
export function fieldsBut<Table extends PgTable, const Name extends ColumnName<Table> = never>(
  table: Table,
  ...without: readonly Name[]
): FieldsOf<Table, Exclude<ColumnName<Table>, Name>> {
  return fieldsOf(table, ...namesBut(table, ...without));
}

/** Returns the names of all columns of a table except those in `without`. */
export function namesBut<Table extends PgTable, const Name extends ColumnName<Table> = never>(
  table: Table,
  ...without: readonly Name[]
): Exclude<ColumnName<Table>, Name>[] {
  const left: ReadonlySet<string> = new Set(without);
  return Object.keys(getTableColumns(table)).filter((name) => !left.has(name)) as Exclude<ColumnName<Table>, Name>[];
}

function missing(name: string): never {
  throw new Error(`the table has no column ${name}`);
}

/** SQL types whose values, written as text, never need quotes in an array. */
const plainTypes: ReadonlySet<string> = new Set(["uuid", "timestamptz", "int2", "int4", "int8", "bool"]);

/** Codec (encoder of statement parameters) of a point in time. In TypeScript, the time is a number of milliseconds since 1970. */
export const timestamptz: Codec<number> = scalar("timestamptz", timeText);
/** Codec (encoder of statement parameters) of a 64-bit integer. In TypeScript it is a number, exact up to 2^53. */
export const int8: Codec<number> = scalar("int8");
/** Codec of a 32-bit integer. */
export const int4: Codec<number> = scalar("int4");
/** Codec of a boolean. */
export const bool: Codec<boolean> = scalar("bool");
/** Codec (encoder of statement parameters) of a list of 32-bit integers. The whole list is one parameter, of the type array. */
export const int4Array: Codec<readonly number[]> = { ...scalar("int4[]"), encode: plainArrayLiteral };
/** Codec of a string. */
export const text: Codec<string> = scalar("text");

/** Returns the codec (encoder) of an id with the given prefix. The database stores only the UUID in the id. */
export function idOf<Prefix extends IdPrefix>(_prefix: Prefix): Codec<Id<Prefix>> {
  return scalar("uuid", uuidOfId);
}

/** Returns a codec (encoder of statement parameters) that also accepts null and undefined, both as SQL's NULL. */
export function orNull<Value>(codec: Codec<Value>): Codec<Value | null | undefined> {
  return codec as Codec<unknown>;
}

/** Returns the codec (encoder of statement parameters) for a document that is stored as JSON. `write`: returns the text of the document. */
export function json<Value>({ write }: { write(value: Value): string }): Codec<Value> {
  return scalar("jsonb", write);
}

let latest = { ms: 0, text: isoTime(0) };

/** Returns a time as RFC 3339 text. Remembers the latest text, because rows that are written together mostly have equal times. */
function timeText(ms: number): string {
  if (ms !== latest.ms) latest = { ms, text: isoTime(ms) };
  return latest.text;
}

/** Makes the codec of a scalar type. Without `write`, values are written unchanged. */
function scalar<Value>(type: string, write?: (value: Value) => ArrayElement): Codec<Value> {
  return {
    type,
    arrayType: `${type}[]`,
    name: undefined,
    encode:
      write === undefined
        ? (value) => (value ?? null) as ArrayElement
        : (value) => (value === null || value === undefined ? null : write(value)),
    literal: (plainTypes.has(type) ? plainArrayLiteral : arrayLiteral) as Codec<Value>["literal"],
    element: (reference) => reference,
  };
}

const bytea: Codec<Uint8Array | null | undefined> = {
  ...scalar("bytea"),
  encode: (value) => value ?? null,
  literal: bytesArrayLiteral as Codec<Uint8Array>["literal"],
};

/** Codec (encoder) of a list of texts. PostgreSQL allows only inner lists of equal length, so an array contains each list as one text. */
const textArray: Codec<readonly string[] | null | undefined> = {
  ...orNull(scalar<readonly string[]>("text[]", arrayLiteral)),
  arrayType: "text[]",
  element: (reference) => `${reference}::text[]`,
};

/** Codecs by SQL type. For `uuid` and `jsonb`, the column itself encodes its values. */
const codecs: Readonly<Record<string, (column: Column) => Codec<never>>> = {
  uuid: (column) => scalar("uuid", writerOf(column)),
  text: () => scalar("text"),
  "text[]": () => textArray,
  integer: () => scalar("int4"),
  smallint: () => scalar("int2"),
  bigint: () => scalar("int8"),
  boolean: () => scalar("bool"),
  bytea: () => bytea,
  jsonb: (column) => scalar("jsonb", writerOf(column)),
  "timestamp (3) with time zone": () => scalar("timestamptz", timeText),
};

function writerOf(column: Column): (value: unknown) => ArrayElement {
  return (value) => column.mapToDriverValue(value) as ArrayElement;
}

/** Returns the codec of a column's values. Throws if there is no codec for the column's type. */
function codecOf(column: PgColumn): Codec<never> {
  const make = codecs[column.getSQLType()];
  if (make === undefined) throw new Error(`${column.name} is ${column.getSQLType()}, which sql/codec.ts does not know`);
  return { ...make(column), name: `"${column.name}"` };
}
