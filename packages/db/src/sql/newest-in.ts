import { firstUuidAt, type Id, type IdPrefix, type TimeRange, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { RawRow, SelectList } from "./select-list.ts";
import { type StatementParameter, statement } from "./statement.ts";

/** The highest UUID. No id is higher, so it is the end of a range that has no other end. */
export const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** The lowest UUID. No id is lower, so it is the start of a range that has no other start. */
export const firstUuid = "00000000-0000-0000-0000-000000000000";

/** Range and limits of a search for the newest rows, as SQL. */
type NewestOptions = {
  /** Columns of the index, each with its value. The id, which is the last column of the index, is left out. */
  readonly key: Readonly<Record<string, string>>;
  /** Condition of a partial index. Write it exactly as in the index: a generic plan recognizes no other form. */
  readonly condition?: string;
  /** SQL condition that rows must match in addition to the key of the index in which they were found. */
  readonly filter?: string;
  /** Lowest id that the query returns. Default: the lowest possible id. */
  readonly from?: string;
  /** Id at which the searched range of ids ends, exclusive, as SQL. Default: the parameter `$2`. */
  readonly before?: string;
  /** SQL expression of the maximum number of ids that the query returns. Default `$3`. */
  readonly limit?: string;
};

/** Returns the SQL for the ids of the newest rows in one range of an index. It scans the index backward until the page is full. */
export function newestIn(table: string, options: NewestOptions): string {
  const { key, condition, filter, from = `'${firstUuid}'::uuid`, before = "$2::uuid", limit = "$3::int4" } = options;
  const columns = [...Object.keys(key), "id"];
  const bound = (id: string) => `(${[...Object.values(key), id].join(", ")})`;
  const row = `(${columns.join(", ")})`;
  // The condition compares all columns of the index together. With `project_id = …`, PostgreSQL may use the primary key and read rows of
  // other projects.
  const conditions = [condition, `${row} >= ${bound(from)}`, `${row} < ${bound(before)}`, filter];
  const where = conditions.filter((one) => one !== undefined).join(" and ");
  return `select id from ${table} where ${where} order by ${columns.map((name) => `${name} desc`).join(", ")} limit ${limit}`;
}

/** Options of `valuesIn`. They are SQL text. */
type ValuesOptions = {
  /** The first columns of the index, each with the value to look for. The next column of the index is `column`. */
  readonly key: Readonly<Record<string, string>>;
  /** Name of the text column whose distinct values the query returns. The column must not contain the empty text. */
  readonly column: string;
  readonly condition?: string;
  /** SQL expression of the only value that the query returns. If the expression is the empty text, the query returns all values. */
  readonly only: string;
};

/**
 * Returns a query for a `with` clause that finds the distinct values of a column. `name`: name of the query. Its result also contains null
 * and an empty text.
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

/** Options of `pageStatement`. `Read` is a decoded row. */
type PageOptions<Read extends object> = {
  readonly table: string;
  /** Columns of a row. In their SQL, the row has the alias that the field `as` contains. */
  readonly columns: SelectList<Read>;
  readonly as: string;
  /** Query whose column `id` has the ids of all matching rows. The statement returns the newest of these rows. */
  readonly found: string;
  /** SQL of further queries that come before the query `found` and that `found` may use, in the form `tools as (…)`. */
  readonly given?: string;
};

/**
 * Returns a function that reads one page of a list: the newest rows among the ids that the SQL query `found` returns. Parameter $3 of the
 * statement is the maximum number of rows.
 */
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

/** Returns the exclusive upper bound of a page's ids: the id `after`, or the highest possible id for the first page. */
export function beforeOf(after: Id<IdPrefix> | undefined): string {
  return after === undefined ? lastUuid : uuidOfId(after);
}

/**
 * Returns the range of ids of a page: rows that were created from `sinceMs` on, before `untilMs`, and below the id `after`. The range is
 * possible because ids contain their time. `fromUuid` is inclusive, `beforeUuid` exclusive.
 */
export function idBounds(
  { sinceMs, untilMs }: Partial<TimeRange>,
  after: Id<IdPrefix> | undefined,
): { readonly fromUuid: string; readonly beforeUuid: string } {
  const untilUuid = untilMs === undefined ? lastUuid : firstUuidAt(untilMs);
  // UUIDs are in the same order as their texts, so the texts can be sorted.
  const [beforeUuid = lastUuid] = [untilUuid, beforeOf(after)].sort();
  return { fromUuid: firstUuidAt(sinceMs ?? 0), beforeUuid };
}
