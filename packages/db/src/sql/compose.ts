import type postgres from "postgres";
import type { Executor } from "../connect.ts";
import type { StatementPart } from "./select-list.ts";
import { type StatementParameter, type StatementResult, statement } from "./statement.ts";

type Parts = Readonly<Record<string, StatementPart<never, unknown>>>;

/** Names of the parts' parameters in the statement's text. */
export type PartNames<Given extends Parts> = {
  readonly [Key in keyof Given]: Given[Key] extends StatementPart<never, infer Names> ? Names : never;
};

/** Values of a statement, part by part. */
export type PartValues<Given extends Parts> = {
  readonly [Key in keyof Given]: Given[Key] extends StatementPart<infer Value, unknown> ? Value : never;
};

/** Runs a composed statement on a pool or in a transaction. */
export type ComposedStatement<Given extends Parts, Row> = (
  db: Executor | postgres.ISql,
  values: PartValues<Given>,
) => Promise<StatementResult<Row>>;

/** A SQL text and the type of its rows. */
export type Query<Row> = { readonly text: string; readonly row?: Row };

/** Makes the text of a statement. Placeholders that are strings (names of parts) are inserted unchanged. */
export function query<Row extends object = Record<never, never>>(
  texts: TemplateStringsArray,
  ...names: readonly string[]
): Query<Row> {
  return { text: String.raw({ raw: texts }, ...names) };
}

/** Makes a `statement` whose parameters are declared in parts. It numbers them in order, and casts and encodes each as its field declares. */
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
