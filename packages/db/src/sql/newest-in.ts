import { firstUuidAt, type Id, type IdPrefix, type TimeRange, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { RawRow, SelectList } from "./select-list.ts";
import { type StatementParameter, statement } from "./statement.ts";

/** No id is as high. */
export const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** No id is as low. */
export const firstUuid = "00000000-0000-0000-0000-000000000000";

/** Where newest rows are looked for, as SQL. */
type NewestOptions = {
  /** The columns of the index but the id, which is its last, each with its value. */
  readonly key: Readonly<Record<string, string>>;
  /** The condition of a partial index in its words: a plan for any value knows no other. */
  readonly condition?: string;
  /** What rows of the index are left out by. */
  readonly filter?: string;
  /** No row below this id: from the first one. */
  readonly from?: string;
  /** Only rows below this id: by default below `$2`. */
  readonly before?: string;
  /** By default as many as `$3` says. */
  readonly limit?: string;
};

/**
 * The ids of the newest rows of one place in an index: a backward scan that ends with the page. Lists that people may narrow are merged
 * from such scans, one for each value of what they did not narrow; so one index serves a list narrowed by its first columns, by more of them
 * and by all, and none reads past rows that it is not about. Rows are compared as the index orders them, so that no other fits, whatever
 * statistics say: with `project_id = …` a plan for any value may take the primary key, and go past all rows of other projects.
 */
export function newestIn(table: string, options: NewestOptions): string {
  const { key, condition, filter, from = `'${firstUuid}'::uuid`, before = "$2::uuid", limit = "$3::int4" } = options;
  const columns = [...Object.keys(key), "id"];
  const bound = (id: string) => `(${[...Object.values(key), id].join(", ")})`;
  const row = `(${columns.join(", ")})`;
  const conditions = [condition, `${row} >= ${bound(from)}`, `${row} < ${bound(before)}`, filter];
  const where = conditions.filter((one) => one !== undefined).join(" and ");
  return `select id from ${table} where ${where} order by ${columns.map((name) => `${name} desc`).join(", ")} limit ${limit}`;
}

/** What stands in one place of an index, as SQL. */
type ValuesOptions = {
  /** The columns of the index before `column`, each with its value. */
  readonly key: Readonly<Record<string, string>>;
  /** A text, which is never empty. */
  readonly column: string;
  readonly condition?: string;
  /** The one value that is asked for; where it is empty, all are. */
  readonly only: string;
};

/**
 * The values that a column has, as `name(value)`, each found by a hop in the index: a list that one index serves whether this column narrows
 * it or not is merged from them. Null and the empty text are among them, and no value of any row.
 */
export function valuesIn(table: string, name: string, { key, column, condition, only }: ValuesOptions): string {
  const columns = Object.keys(key).join(", ");
  const values = Object.values(key).join(", ");
  return `${name}(value) as (
    select case when ${only} = '' then '' else ${only} end
    union all
    select (select ${column} from ${table}
      where ${condition === undefined ? "" : `${condition} and `}(${columns}, ${column}) > (${values}, t.value) and (${columns}) <= (${values})
      order by ${columns}, ${column} limit 1)
    from ${name} t where t.value is not null and ${only} = '')`;
}

/** Page of a list. `Read` is a row as its columns are read. */
type PageOptions<Read extends object> = {
  readonly table: string;
  /** Columns of a row, which they name by `as`. */
  readonly columns: SelectList<Read>;
  readonly as: string;
  /** The ids of all rows that may be in the page, as a query. */
  readonly found: string;
  /** Queries that `found` takes from, as SQL: `tools as (…)`. */
  readonly given?: string;
};

/** Returns the statement of the newest rows of those that were found; each is looked up by primary key. `$3` is their number. */
export function pageStatement<Read extends object>(
  name: string,
  { table, columns, as, found, given }: PageOptions<Read>,
): (db: Executor, parameters: readonly StatementParameter[]) => Promise<Read[]> {
  const select = statement<RawRow<Read>>(
    name,
    `with recursive ${given === undefined ? "" : `${given}, `}found as (${found}),
    page as materialized (select id from found order by id desc limit $3::int4)
    select ${columns.text} from page cross join lateral (select * from ${table} where id = page.id offset 0) ${as} order by page.id desc`,
  );
  return async (db, parameters) => (await select(db, parameters)).map((row) => columns.read(row));
}

/** Below which id a page begins. */
export function beforeOf(after: Id<IdPrefix> | undefined): string {
  return after === undefined ? lastUuid : uuidOfId(after);
}

/**
 * Which ids a page may have: of rows made from `sinceMs` on and before `untilMs`, which ids carry, and below `after`. From `fromUuid` on, and
 * below `beforeUuid`.
 */
export function idBounds(
  { sinceMs, untilMs }: Partial<TimeRange>,
  after: Id<IdPrefix> | undefined,
): { readonly fromUuid: string; readonly beforeUuid: string } {
  const untilUuid = untilMs === undefined ? lastUuid : firstUuidAt(untilMs);
  // UUIDs are in the order of their texts.
  const [beforeUuid = lastUuid] = [untilUuid, beforeOf(after)].sort();
  return { fromUuid: firstUuidAt(sinceMs ?? 0), beforeUuid };
}
