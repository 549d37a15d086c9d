import { type Database, type Executor, withTransaction } from "@svc/db/connect";

/** A row by column. Times are RFC 3339 in UTC with milliseconds, bytes are base64, documents JSON, arrays lists. */
export type Row = Readonly<Record<string, unknown>>;

/** What a store holds: by table, then by the text of the primary key. */
export type Store = ReadonlyMap<string, ReadonlyMap<string, Row>>;

/**
 * What changed between two looks at a store. A row of `upserts` has its primary key and, where it was there before, only the columns
 * that changed; a row of `deletes` has its primary key.
 */
export type StoreChange = {
  readonly upserts?: Readonly<Record<string, readonly Row[]>>;
  readonly deletes?: Readonly<Record<string, readonly Row[]>>;
};

type Column = { readonly name: string; readonly type: string };
type Table = { readonly name: string; readonly key: readonly string[]; readonly columns: readonly Column[] };

/** The tables of a database, in an order in which their rows can be inserted. */
export type Tables = ReadonlyMap<string, Table>;

type TableRow = { name: string; key: string[]; columns: Column[]; named: string[] };

/** Reads from the catalogs which tables there are. */
export async function readTables(db: Executor): Promise<Tables> {
  const rows = await db.sql.unsafe<TableRow[]>(`
    select c.relname::text as name,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by a.attnum)
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select json_agg(a.attname order by array_position(i.indkey::int2[], a.attnum))
        from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey::int2[])
        where i.indrelid = c.oid and i.indisprimary) as key,
      (select coalesce(json_agg(f.relname), '[]') from pg_constraint k join pg_class f on f.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as named
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`);
  const found = new Map(rows.map((row) => [row.name, row]));
  const tables = new Map<string, Table>();
  // What a table's foreign keys name comes before it.
  const add = (name: string) => {
    const row = found.get(name);
    if (row === undefined || tables.has(name)) return;
    for (const other of parsed(row.named)) add(other);
    tables.set(name, { name, key: parsed(row.key), columns: parsed(row.columns) });
  };
  for (const name of found.keys()) add(name);
  return tables;
}

/** drizzle takes the driver's parsers of JSON away. */
function parsed<T>(value: T): T {
  return typeof value === "string" ? (JSON.parse(value) as T) : value;
}

/** Reads all rows of all tables in one statement: one moment of the store. */
export async function readStore(db: Executor, tables: Tables): Promise<Store> {
  const parts = [...tables.keys()].map((name) => {
    return `select '${name}' as name, (select coalesce(json_agg(to_jsonb(t)), '[]') from "${name}" t) as rows`;
  });
  const [found] = await db.sql.unsafe<{ store: string }[]>(
    `select json_object_agg(name, rows)::text as store from (${parts.join(" union all ")}) as tables`,
  );
  const store = JSON.parse(found?.store ?? "{}") as Record<string, Record<string, unknown>[]>;
  return new Map(
    [...tables.values()].map((table) => {
      const rows = (store[table.name] ?? []).map((row) => [keyOf(table, row), toText(table, row)] as const);
      return [table.name, new Map(rows.sort(([a], [b]) => (a < b ? -1 : 1)))];
    }),
  );
}

function keyOf({ key }: Table, row: Row): string {
  return JSON.stringify(key.map((name) => row[name]));
}

function toText({ columns }: Table, row: Row): Row {
  return Object.fromEntries(columns.map(({ name, type }) => [name, valueText(type, row[name])]));
}

function valueText(type: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (type === "bytea") return Buffer.from(value.slice(2), "hex").toString("base64");
  return type.startsWith("timestamp") ? new Date(value).toISOString() : value;
}

/** What changed from one look to the next. */
export function changeOf(tables: Tables, from: Store, to: Store): StoreChange {
  const upserts: Record<string, Row[]> = {};
  const deletes: Record<string, Row[]> = {};
  for (const table of tables.values()) {
    const before = from.get(table.name);
    const after = to.get(table.name);
    const changed = [...(after ?? [])].flatMap(([key, row]) => changedRow(table, before?.get(key), row));
    if (changed.length > 0) upserts[table.name] = changed;
    const gone = [...(before ?? [])].filter(([key]) => after?.has(key) !== true);
    if (gone.length > 0) deletes[table.name] = gone.map(([, row]) => keyPart(table, row));
  }
  const isEmpty = (part: object) => Object.keys(part).length === 0;
  return { ...(!isEmpty(upserts) && { upserts }), ...(!isEmpty(deletes) && { deletes }) };
}

function keyPart({ key }: Table, row: Row): Row {
  return Object.fromEntries(key.map((name) => [name, row[name]]));
}

function changedRow(table: Table, before: Row | undefined, row: Row): Row[] {
  if (before === undefined) return [row];
  const columns = Object.entries(row).filter(([name, value]) => {
    return JSON.stringify(value) !== JSON.stringify(before[name]);
  });
  return columns.length === 0 ? [] : [{ ...keyPart(table, row), ...Object.fromEntries(columns) }];
}

/** A store after a change. */
export function applyChange(tables: Tables, store: Store, { upserts = {}, deletes = {} }: StoreChange): Store {
  const next = new Map<string, Map<string, Row>>([...store].map(([name, rows]) => [name, new Map(rows)]));
  const rowsOf = (name: string): [Table, Map<string, Row>] => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`there is no table ${name} at the recorded level`);
    const rows = next.get(name) ?? new Map<string, Row>();
    next.set(name, rows);
    return [table, rows];
  };
  for (const [name, list] of Object.entries(upserts)) {
    const [table, rows] = rowsOf(name);
    for (const row of list) rows.set(keyOf(table, row), { ...rows.get(keyOf(table, row)), ...row });
  }
  for (const [name, list] of Object.entries(deletes)) {
    const [table, rows] = rowsOf(name);
    for (const row of list) rows.delete(keyOf(table, row));
  }
  return next;
}

/** Puts rows into a database in the place of all that it holds. */
export function writeStore(db: Database, tables: Tables, store: Store): Promise<void> {
  const order = [...tables.values()];
  return withTransaction(db, async (tx) => {
    // Sent one behind the other on one connection: what is named goes after what names it, and comes before it.
    await Promise.all([
      ...order.toReversed().map(({ name }) => tx.sql.unsafe(`delete from "${name}"`)),
      ...order.flatMap((table) => insertRows(tx, table, [...(store.get(table.name)?.values() ?? [])])),
    ]);
  });
}

function insertRows(tx: Executor, table: Table, rows: readonly Row[]): Promise<unknown>[] {
  if (rows.length === 0) return [];
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  const insert = `insert into "${table.name}" (${names})
    select ${names} from jsonb_populate_recordset(null::"${table.name}", $1::text::jsonb)`;
  return [tx.sql.unsafe(insert, [JSON.stringify(rows.map((row) => toStored(table, row)))], { prepare: true })];
}

function toStored({ columns }: Table, row: Row): Row {
  return Object.fromEntries(
    columns.map(({ name, type }) => {
      const value = row[name];
      const isBytes = type === "bytea" && typeof value === "string";
      return [name, isBytes ? `\\x${Buffer.from(value, "base64").toString("hex")}` : value];
    }),
  );
}
