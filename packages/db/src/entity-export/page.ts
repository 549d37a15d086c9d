import { isoTime, type ProjectId, parseExactJson } from "@svc/core";
import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { whereKey } from "../erasures/walk.ts";
import type { ErasedTable, RowParent } from "../schema/erased-tables.ts";
import { exportOf } from "../schema/exported-columns.ts";
import { sealedContext, sealedTables } from "../schema/sealed-columns.ts";
import { arrayLiteral } from "../sql/statement.ts";

/** One row of an export: its values by column name, and its encrypted values, which the caller must decrypt. */
export type ExportedRow = {
  /** Values of the exported columns, by column name: ids with their prefixes, times as ISO 8601, documents as JSON values. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Sealed values that the caller must open, each with the context that it was sealed for. */
  readonly sealed: readonly { readonly column: string; readonly sealed: Buffer; readonly context: string }[];
};

/** Key of a row, as one text for each key column. The next page of rows begins after the row with this key. */
export type RowKey = readonly string[];

/** One row that was read for an export, with the keys that are needed to read the next page. */
export type PagedRow = {
  readonly row: ExportedRow;
  readonly key: RowKey;
  /** Key of the parent row by which this row was found. Undefined if the query did not look for rows of given parents. */
  readonly owner: string | undefined;
  /**
   * Keys of the row's parents, one for each relation to a parent table (the query's `ways`). Undefined for a parent that does not exist.
   */
  readonly parents: readonly (string | undefined)[];
};

/**
 * Query that reads one page of rows of a table. `owners`: reads only rows that belong to these parent rows; undefined reads all. `where`: a
 * condition that the rows must also meet.
 */
export type PageQuery = {
  readonly erased: ErasedTable;
  readonly projectId: ProjectId;
  readonly where?: SQL | undefined;
  readonly owners?: {
    readonly parent: RowParent;
    readonly erased: ErasedTable;
    readonly key: PgColumn;
    readonly ids: readonly string[];
  };
  /** Relations to parent tables. For each relation, the query also returns the key of each row's parent row, in `parents`. */
  readonly ways?: readonly { readonly parent: RowParent; readonly key: PgColumn }[];
  readonly order: readonly PgColumn[];
  readonly after?: RowKey | undefined;
  /** Size of a page in bytes, 262,144 by default. The page ends with the row that reaches this size. */
  readonly bytesMax?: number;
};

const rowsMax = 500;
const bytesOfPage = 262_144;

/**
 * Returns the next page of rows for an export. If the query has `owners` (parent rows), rows are sorted first by the key of the parent row,
 * and then by `order`. `isEnd`: true if no more rows follow.
 */
export async function readRows(db: Executor, query: PageQuery): Promise<{ rows: PagedRow[]; isEnd: boolean }> {
  const found = await db.orm.execute<Record<string, unknown>>(pageText(query));
  return {
    rows: found.map((row) => foundRow(query, row)),
    isEnd: found.length < rowsMax && found.at(-1)?.["is_cut"] !== true,
  };
}

function pageText(query: PageQuery): SQL {
  const { erased, owners, ways = [], order, bytesMax = bytesOfPage } = query;
  const columns = Object.values<PgColumn>(getTableColumns(erased.table));
  const selected = columns.filter((column) => exportOf(erased.table, column) !== "left out");
  const name = (text: string) => sql.identifier(text);
  const keys = order.map((column) => sql`t.${name(column.name)}`);
  const sorted = sql.join([...(owners === undefined ? [] : [sql`t.owner_`]), ...keys], sql`, `);
  const list = [
    ...selected.map((column) => sql`t.${name(column.name)}`),
    ...sealContextColumns(query).map((column) => sql`t.${name(column.name)} as ${name(`n_${column.name}`)}`),
    ...order.map((column, index) => sql`t.${name(column.name)}::text as ${name(`k${index}`)}`),
    ...ways.map((_way, index) => sql`t.${name(`w${index}`)}::text as ${name(`w${index}`)}`),
    ...(owners === undefined ? [] : [sql`t.owner_::text as owner_`]),
    sql`t.bytes_to_ >= ${bytesMax}::int8 as is_cut`,
  ];
  return sql`select ${sql.join(list, sql`, `)} from (
      select t.*, sum(t.bytes_) over (order by ${sorted}) as bytes_to_ from (${rowsText(query, selected)}) t) t
    where t.bytes_to_ - t.bytes_ < ${bytesMax}::int8 order by ${sorted}`;
}

/**
 * Returns the query for the rows of a page, each with the size of its values in bytes. PostgreSQL knows these sizes without reading the
 * values.
 */
function rowsText(
  { erased, projectId, where, owners, ways = [], order, after }: PageQuery,
  selected: readonly PgColumn[],
): SQL {
  const { table } = erased;
  const sizes = selected.flatMap((column) => sizeOf(column) ?? []);
  const told = ways.map(
    ({ parent, key }, index) =>
      sql`, (select ${key} from ${parent.table} where ${parent.on} limit 1) as ${sql.identifier(`w${index}`)}`,
  );
  const conditions = [where, after && isAfterKey(order, after)].filter((one) => one !== undefined);
  const rows = (on: SQL) => sql`select ${table}.*, ${sql.join([sql`1`, ...sizes], sql` + `)} as bytes_${sql.join(told)}
    from ${table} where ${sql.join([on, ...conditions], sql` and `)} order by ${sql.join([...order], sql`, `)} limit ${rowsMax}::int4`;
  if (owners === undefined) return rows(sql`true`);
  const { parent, key, ids } = owners;
  const isOwner = whereKey(owners.erased, projectId, sql`= any(${arrayLiteral([...ids])}::uuid[])`);
  const parentName = sql.identifier(getTableName(parent.table));
  // Looks up the dependent rows of each owner (parent row) by an index of their table. In this form, PostgreSQL cannot read the whole table
  // instead.
  return sql`select r.*, ${key} as owner_
    from (select * from ${parent.table} where ${isOwner} order by ${key}) ${parentName}
    cross join lateral (${rows(parent.on)}) r order by ${key}, ${sql.join(
      order.map(({ name }) => sql`r.${sql.identifier(name)}`),
      sql`, `,
    )} limit ${rowsMax}::int4`;
}

/**
 * Returns the SQL for the size of a column's value in bytes, without reading the value. Undefined for types whose values are always small.
 */
function sizeOf(column: PgColumn): SQL | undefined {
  const type = column.getSQLType();
  if (type === "text" || type === "bytea") return sql`coalesce(octet_length(${column}), 0)`;
  return type === "jsonb" || type === "text[]" ? sql`coalesce(pg_column_size(${column}), 0)` : undefined;
}

function isAfterKey(order: readonly PgColumn[], after: RowKey): SQL {
  const values = order.map((column, index) => sql`${after[index] ?? ""}::text::${sql.raw(column.getSQLType())}`);
  return sql`(${sql.join([...order], sql`, `)}) > (${sql.join(values, sql`, `)})`;
}

/**
 * Returns the columns that are needed to decrypt values of a table, but that are not exported. An encrypted value can be decrypted only
 * with its context, and the context contains these columns.
 */
function sealContextColumns({ erased: { table } }: PageQuery): PgColumn[] {
  const sealed = sealedTables.find(({ name }) => name === getTableName(table));
  const names = new Set(Object.values(sealed?.named ?? {}).map(({ name }) => name));
  return Object.values<PgColumn>(getTableColumns(table)).filter(
    (column) => names.has(column.name) && exportOf(table, column) === "left out",
  );
}

function foundRow({ erased, projectId, ways = [], order }: PageQuery, row: Record<string, unknown>): PagedRow {
  const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
  return {
    row: exportedRow(erased.table, projectId, row),
    key: order.map((_column, index) => String(row[`k${index}`])),
    owner: textOf(row["owner_"]),
    parents: ways.map((_way, index) => textOf(row[`w${index}`])),
  };
}

function exportedRow(table: PgTable, projectId: ProjectId, row: Record<string, unknown>): ExportedRow {
  const sealedTable = sealedTables.find(({ name }) => name === getTableName(table));
  const values: Record<string, unknown> = {};
  const sealed: { column: string; sealed: Buffer; context: string }[] = [];
  for (const column of Object.values<PgColumn>(getTableColumns(table))) {
    const stored = row[column.name];
    const how = exportOf(table, column);
    if (how === "left out") continue;
    if (stored === null) values[column.name] = null;
    else if (how === "as it is") values[column.name] = exportedValue(column, stored);
    const place = sealedTable?.columns.find((one) => one.column.name === column.name);
    if (how !== "opened" || sealedTable === undefined || place === undefined || !Buffer.isBuffer(stored)) continue;
    const read = (_code: string, { name }: { name: string }) => row[name] ?? row[`n_${name}`];
    const context = sealedContext(sealedTable, place, { scope: projectId, stored: read });
    sealed.push({ column: column.name, sealed: stored, context });
  }
  return { values, sealed };
}

function exportedValue(column: PgColumn, stored: unknown): unknown {
  const type = column.getSQLType();
  // A value that only a newer version of svc knows is exported unchanged.
  if (type === "text" || (type === "text[]" && Array.isArray(stored))) return stored;
  if (type === "jsonb") return documentOf(column, stored);
  const value: unknown = column.mapFromDriverValue(stored);
  return typeof value === "number" && type.startsWith("timestamp") ? isoTime(value) : value;
}

// Limits no depth. svc wrote the stored documents itself with JSON.stringify, so their depth is already limited.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/**
 * Returns a stored document in the current form. A document of a newer version is returned as stored, because an export must be complete.
 */
function documentOf(column: PgColumn, stored: unknown): unknown {
  try {
    return column.mapFromDriverValue(stored);
  } catch {
    return typeof stored === "string" ? parseExactJson(stored, unbounded) : stored;
  }
}
