import type postgres from "postgres";
import type { Executor } from "../connect.ts";
import type { StatementPart } from "./select-list.ts";
import { type StatementParameter, type StatementResult, statement } from "./statement.ts";

type Parts = Readonly<Record<string, StatementPart<never, unknown>>>;

/**
 * The names that a statement's parameters have in its SQL text, such as `$1`, by group. A group (part) is a set of parameters that belong
 * together, such as the columns of new rows.
 */
export type PartNames<Given extends Parts> = {
  readonly [Key in keyof Given]: Given[Key] extends StatementPart<never, infer Names> ? Names : never;
};

/**
 * Values for the parameters of a composed statement. The parameters are in groups (parts). Each key is the name of a group, and its value
 * has the parameters of this group.
 */
export type PartValues<Given extends Parts> = {
  readonly [Key in keyof Given]: Given[Key] extends StatementPart<infer Value, unknown> ? Value : never;
};

/**
 * A function that runs an SQL statement made by `compose`, on a pool or in a transaction. `values`: the values of the statement's
 * parameters.
 */
export type ComposedStatement<Given extends Parts, Row> = (
  db: Executor | postgres.ISql,
  values: PartValues<Given>,
) => Promise<StatementResult<Row>>;

/** SQL text of a statement. The type parameter is the type of the rows that it returns; `row` has no value and exists only for this type. */
export type Query<Row> = { readonly text: string; readonly row?: Row };

/**
 * Template tag for the text of an SQL statement. Inserted values `${…}` must be names of parameters or further SQL, because they are not
 * escaped.
 */
export function query<Row extends object = Record<never, never>>(
  texts: TemplateStringsArray,
  ...names: readonly string[]
): Query<Row> {
  return { text: sqlOf(texts, ...names) };
}

/**
 * A shorter SQL text of a statement. `parts`: the parameter groups in this text; all other groups must be empty. `isLone`: true if each
 * group in this text must have exactly one row. Parameters are then single values, not arrays.
 */
type Shape<Given extends Parts> = {
  readonly parts: readonly (keyof Given & string)[];
  readonly isLone?: boolean;
};

/**
 * Template tags for SQL that a statement needs only if it has a certain group of parameters, such as new rows. The tag of a group returns
 * its text if the statement has this group, and otherwise an empty text.
 */
export type OnlyWith<Given extends Parts> = { readonly [Key in keyof Given]: typeof sqlOf };

function sqlOf(texts: TemplateStringsArray, ...names: readonly string[]): string {
  return String.raw({ raw: texts }, ...names);
}

/** Maximum number of different SQL texts for one statement. Each connection to PostgreSQL keeps a plan for every text. */
const textsMax = 8;

/**
 * Returns a function that runs an SQL statement with groups of parameters (`parts`). `write`: returns the SQL text. `shapes`: shorter texts
 * for values in which some groups are empty. A run uses the first text that fits its values, or else the complete text.
 */
export function compose<Given extends Parts, Row extends object>(
  name: string,
  parts: Given,
  write: (names: PartNames<Given>, onlyWith: OnlyWith<Given>) => Query<Row>,
  shapes: Readonly<Record<string, Shape<Given>>> = {},
): ComposedStatement<Given, Row> {
  const all = Object.entries(parts).map(([key, part]) => ({ key, part }));
  const textOf = (own: string, { parts: had, isLone = false }: Shape<Given>) => {
    const names: Record<string, unknown> = {};
    const onlyWith: Record<string, typeof sqlOf> = {};
    let first = 1;
    for (const { key, part } of all) {
      const isHad = had.includes(key);
      names[key] = part.names(first, isLone);
      onlyWith[key] = isHad ? sqlOf : () => "";
      if (isHad) first += part.size;
    }
    const run = statement<Row>(own, write(names as PartNames<Given>, onlyWith as OnlyWith<Given>).text);
    const without = all.filter(({ key }) => !had.includes(key));
    const entries = all.filter(({ key }) => had.includes(key));
    const isFor = (given: Readonly<Record<string, unknown>>) =>
      without.every(({ key, part }) => part.count(given[key] as never) === 0) &&
      (!isLone || entries.every(({ key, part }) => part.count(given[key] as never) === 1));
    return { run, entries, isLone, isFor };
  };
  const whole = textOf(name, { parts: Object.keys(parts) });
  const shaped = Object.entries(shapes).map(([end, shape]) => textOf(`${name}_${end}`, shape));
  if (shaped.length >= textsMax) throw new Error(`${name} has more than ${textsMax} texts`);
  return (db, values) => {
    const given: Readonly<Record<string, unknown>> = values;
    const { run, entries, isLone } = shaped.find(({ isFor }) => isFor(given)) ?? whole;
    const parameters: StatementParameter[] = [];
    for (const { key, part } of entries) part.encode(given[key] as never, parameters, isLone);
    return run(db, parameters);
  };
}
