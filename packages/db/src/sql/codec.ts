import { type Id, type IdPrefix, isoTime, uuidOfId } from "@svc/core";
import { type Column, getTableColumns } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { type ArrayElement, arrayLiteral, bytesArrayLiteral, plainArrayLiteral } from "./statement.ts";

/** How values of one kind become parameters of a statement. */
export type Codec<Value> = {
  /** What a parameter is cast to: `uuid`. */
  readonly type: string;
  /** What an array of them is cast to: `uuid[]`. */
  readonly arrayType: string;
  /** The column's name in SQL; undefined for what is no column. */
  readonly name: string | undefined;
  /** The value as a parameter, or as an element of one. Null and undefined are SQL's NULL. */
  encode(value: Value): EncodedValue;
  /** The text of an array of encoded values. */
  literal(encoded: readonly EncodedValue[]): string;
  /** The value in SQL of an array's element: `e.chain::text[]`. */
  element(reference: string): string;
};

type EncodedValue = ArrayElement | Uint8Array;

/** The names that code has for the columns of a table. */
export type ColumnName<Table extends PgTable> = keyof Table["$inferSelect"] & string;

/** A row as it is read: a part of it where columns are named. */
export type Row<Table extends PgTable, Name extends ColumnName<Table> = ColumnName<Table>> = {
  [Key in Name]: Table["$inferSelect"][Key];
};

/** A row as it is written: a part of it where columns are named. Every column is named, also those that are null. */
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

/** Codecs by the names that code has for them. */
export type Fields = Readonly<Record<string, Codec<never>>>;

/** The values that fields encode. */
export type ValuesOf<Shape extends Fields> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Codec<infer Value> ? Value : never;
};

/** Columns of a table by their names in code. */
export type FieldsOf<Table extends PgTable, Name extends ColumnName<Table>> = {
  readonly [Key in Name]: Codec<NewRow<Table>[Key]>;
};

/** Columns of a table by their names in code. */
export function fieldsOf<Table extends PgTable, const Name extends ColumnName<Table>>(
  table: Table,
  ...names: readonly Name[]
): FieldsOf<Table, Name> {
  const columns: Record<string, PgColumn> = getTableColumns(table);
  const fields = names.map((name) => [name, codecOf(columns[name] ?? missing(name))]);
  return Object.fromEntries(fields) as FieldsOf<Table, Name>;
}

/** Every column of a table but some: those that the statement gives itself, or leaves to their defaults. */
export function fieldsBut<Table extends PgTable, const Name extends ColumnName<Table> = never>(
  table: Table,
  ...without: readonly Name[]
): FieldsOf<Table, Exclude<ColumnName<Table>, Name>> {
  return fieldsOf(table, ...namesBut(table, ...without));
}

/** The names of every column of a table but some. */
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

/** Types whose texts hold nothing that an array gives a meaning to. */
const plainTypes: ReadonlySet<string> = new Set(["uuid", "timestamptz", "int2", "int4", "int8", "bool"]);

/** A point in time, epoch milliseconds. */
export const timestamptz: Codec<number> = scalar("timestamptz", timeText);
/** A whole number of 64 bits, as far as numbers are exact. */
export const int8: Codec<number> = scalar("int8");
/** A whole number of 32 bits. */
export const int4: Codec<number> = scalar("int4");
/** A truth value. */
export const bool: Codec<boolean> = scalar("bool");
/** Whole numbers of 32 bits, one parameter. */
export const int4Array: Codec<readonly number[]> = { ...scalar("int4[]"), encode: plainArrayLiteral };
/** A text. */
export const text: Codec<string> = scalar("text");

/** An id of one kind, stored as its UUID. */
export function idOf<Prefix extends IdPrefix>(_prefix: Prefix): Codec<Id<Prefix>> {
  return scalar("uuid", uuidOfId);
}

/** A codec that takes null and undefined too. */
export function orNull<Value>(codec: Codec<Value>): Codec<Value | null | undefined> {
  return codec as Codec<unknown>;
}

/** A document as JSON. */
export function json<Value>({ write }: { write(value: Value): string }): Codec<Value> {
  return scalar("jsonb", write);
}

let latest = { ms: 0, text: isoTime(0) };

/** Most times of a batch are the same one. */
function timeText(ms: number): string {
  if (ms !== latest.ms) latest = { ms, text: isoTime(ms) };
  return latest.text;
}

/** `write` is absent where values are written as they are. */
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

/** In an array of arrays all would have one length: each is the text of an array, and cast where it is used. */
const textArray: Codec<readonly string[] | null | undefined> = {
  ...orNull(scalar<readonly string[]>("text[]", arrayLiteral)),
  arrayType: "text[]",
  element: (reference) => `${reference}::text[]`,
};

/** By what the schema calls their types; the values of `uuid` and `jsonb` are the column's own to write. */
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

/** How the values of a column become parameters. Throws for a type that no column had so far. */
function codecOf(column: PgColumn): Codec<never> {
  const make = codecs[column.getSQLType()];
  if (make === undefined) throw new Error(`${column.name} is ${column.getSQLType()}, which sql/codec.ts does not know`);
  return { ...make(column), name: `"${column.name}"` };
}
