import type postgres from "postgres";
import type { Executor } from "../connect.ts";
import type { StatementPart } from "./select-list.ts";
import { type StatementParameter, type StatementResult, statement } from "./statement.ts";

type Parts = Readonly<Record<string, StatementPart<never, unknown>>>;

/** What the text of a statement calls the parameters of its parts. */
export type PartNames<Given extends Parts> = {
  readonly [Key in keyof Given]: Given[Key] extends StatementPart<never, infer Names> ? Names : never;
};

/** The values that a statement takes, part by part. */
export type PartValues<Given extends Parts> = {
  readonly [Key in keyof Given]: Given[Key] extends StatementPart<infer Value, unknown> ? Value : never;
};

/** Runs a composed statement on a pool or in a transaction. */
export type ComposedStatement<Given extends Parts, Row> = (
  db: Executor | postgres.ISql,
  values: PartValues<Given>,
) => Promise<StatementResult<Row>>;

/** A text of SQL that returns rows of a type. */
export type Query<Row> = { readonly text: string; readonly row?: Row };

/** The text of a statement. The names of parts stand for themselves in it. */
export function query<Row extends object = Record<never, never>>(
  texts: TemplateStringsArray,
  ...names: readonly string[]
): Query<Row> {
  return { text: String.raw({ raw: texts }, ...names) };
}

/**
 * A `statement` whose parameters are declared in parts and numbered in their order: nobody counts them, and each is cast and
 * encoded as its field says.
 */
export function compose<Given extends Parts, Row extends object>(
  name: string,
  parts: Given,
  write: (names: PartNames<Given>) => Query<Row>,
): ComposedStatement<Given, Row> {
  const names: Record<string, unknown> = {};
  let first = 1;
  for (const [key, part] of Object.entries(parts)) {
    names[key] = part.names(first);
    first += part.size;
  }
  const run = statement<Row>(name, write(names as PartNames<Given>).text);
  const entries = Object.entries(parts);
  return (db, values) => {
    const given: Readonly<Record<string, unknown>> = values;
    const parameters: StatementParameter[] = [];
    for (const [key, part] of entries) part.encode(given[key] as never, parameters);
    return run(db, parameters);
  };
}
