import { getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Codec, Fields, ValuesOf } from "./codec.ts";
import type { StatementParameter } from "./statement.ts";

/** Parameters of a statement that belong together: what its text calls them, and how they are encoded. */
export type Part<Value, Names> = {
  /** How many there are. */
  readonly size: number;
  /** What the text calls them when the first is `$first`. */
  names(first: number): Names;
  /** Adds their values to those of the parts before. */
  encode(value: Value, into: StatementParameter[]): void;
};

/** A row's values as single parameters, by the names of their fields: `$1::uuid`. */
export type ValueNames<Shape extends Fields> = { readonly [Name in keyof Shape]: string };

/** Single parameters. */
export function values<Shape extends Fields>(shape: Shape): Part<ValuesOf<Shape>, ValueNames<Shape>> {
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
export type RowNames<Name extends string = string> = {
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
): Part<readonly ValuesOf<Shape>[], RowNames<keyof Shape & string>> {
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
