import { idOfUuid } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type RowProject, type SealedTable, sealedContext, sealedTables } from "../schema/sealed-columns.ts";
import { arrayLiteral, bytesArrayLiteral } from "../sql/statement.ts";

/**
 * An encrypted value that was encrypted with an old key, and its context. The value can be decrypted only with the same context, such as a
 * project and a row.
 */
export type OldValue = { readonly sealed: Buffer; readonly context: string };

/** Position in the scan of a table whose values are encrypted again: the key of the last scanned row as JSON text. Empty at the start. */
export type WalkPosition = string;

/**
 * A page of rows of a table with encrypted columns, in the order of the primary key. After a change of the vault's key, svc encrypts these
 * columns again, page by page.
 */
export type SealedPage = {
  readonly rows: readonly SealedRow[];
  /** Number of rows that were scanned for this page, including rows whose values need not be encrypted again. */
  readonly seen: number;
  /** Position from which the next page continues. Undefined after the last row. */
  readonly next: WalkPosition | undefined;
};

/**
 * A row with values that a key rotation must encrypt again. `values`: one entry for each encrypted column, in order; undefined if the
 * column's value stays as it is.
 */
export type SealedRow = { readonly key: readonly string[]; readonly values: readonly (OldValue | undefined)[] };

/**
 * Number of bytes at the start of an encrypted value that are compared to find out if the value has changed. They include the nonce, so
 * they differ for any two values.
 */
const headBytes = 48;
/** Maximum size of the sealed values in a page, in bytes. */
const pageBytesMax = 4_194_304;

/** Returns the names of the tables with encrypted columns, in the order in which a key rotation processes them. */
export function sealedTableNames(): readonly string[] {
  return sealedTables.map(({ name }) => name);
}

/**
 * Returns the next rows of a table, at most `limit`, with the encrypted values that a key rotation must replace. A value must be replaced
 * if its bytes are less than `oldBefore`, because encrypted values begin with a key number that grows with each new key. The query uses the
 * primary key, also if PostgreSQL's statistics of the table are old. Only a rotation of keys runs it.
 */
export async function readSealedPage(
  db: Executor,
  { table: name, after, oldBefore, limit }: { table: string; after: WalkPosition; oldBefore: Buffer; limit: number },
): Promise<SealedPage> {
  const table = tableOf(name);
  const position: readonly string[] = after === "" ? [] : JSON.parse(after);
  const rows = await db.sql.unsafe<Record<string, unknown>[]>(pageText(table, position.length > 0), [
    limit,
    oldBefore,
    ...position,
  ]);
  const last = rows.at(-1);
  const isEnd = rows.length < limit && last?.["is_cut"] !== true;
  return {
    rows: rows.flatMap((row) => rowOf(table, row)),
    seen: rows.length,
    next: isEnd || last === undefined ? undefined : JSON.stringify(keyOf(table, last)),
  };
}

/**
 * Replaces encrypted values by the same values encrypted with the new key, and returns the number of changed rows. Leaves out rows that
 * another transaction has locked, and values that have changed since they were read. Make no other change to subscriptions in the same
 * transaction, because nodes would not notice the change.
 */
export async function writeResealed(
  db: Executor,
  name: string,
  rows: readonly { readonly row: SealedRow; readonly sealed: readonly (Buffer | undefined)[] }[],
): Promise<number> {
  const table = tableOf(name);
  const keys = table.key.map((_column, index) => arrayLiteral(rows.map(({ row }) => row.key[index] ?? null)));
  const values = table.columns.flatMap((_column, index) => [
    bytesArrayLiteral(rows.map(({ row }) => row.values[index]?.sealed.subarray(0, headBytes) ?? null)),
    bytesArrayLiteral(rows.map(({ sealed }) => sealed[index] ?? null)),
  ]);
  // The setting `svc.reseals` keeps a trigger from incrementing the versions of shards for the rest of the transaction. The trigger would
  // lock shards of several projects without the locks of the projects. Waiting for locked rows could deadlock, too.
  const [counted] = await db.sql.unsafe<{ count: string }[]>(writeText(table), [...keys, ...values]);
  return Number(counted?.count ?? 0);
}

/**
 * Returns the approximate number of rows in all tables with encrypted columns, from PostgreSQL's statistics. A key rotation stores it as its
 * total, to show progress.
 */
export async function countSealedRows(db: Executor): Promise<number> {
  const [row] = await db.sql.unsafe<{ rows: string }[]>(
    "select coalesce(sum(greatest(reltuples, 0)), 0)::int8 as rows from pg_class where oid = any($1::regclass[]::oid[])",
    [arrayLiteral(sealedTableNames())],
  );
  return Number(row?.rows ?? 0);
}

function tableOf(name: string): SealedTable {
  const table = sealedTables.find((one) => one.name === name);
  if (table === undefined) throw new Error(`${name} is not a table with sealed columns`);
  return table;
}

/**
 * Returns the statement that reads the next page of a table in the order of its primary key. `isBehind`: true if the page begins after a
 * given key, false for the first page. Keys are passed as texts and cast to the types of their columns, because texts would sort
 * differently.
 */
function pageText({ name, key, project, columns, named }: SealedTable, isBehind: boolean): string {
  const keys = key.map(({ name: column }) => `t."${column}"`);
  const behind = key.map((column, index) => `$${3 + index}::text::${column.getSQLType()}`);
  const lengths = columns.map(({ column }) => `coalesce(octet_length(t."${column.name}"), 0)`).join(" + ");
  const old = columns.map(
    ({ column: { name: column } }, index) =>
      `case when t."${column}" < $2::bytea and t."${column}" <> ''::bytea then t."${column}" end as s${index}`,
  );
  return `select ${[
    ...keys.map((column, index) => `${column}::text as k${index}`),
    ...Object.entries(named).map(([code, column]) => `t."${column.name}" as "n_${code}"`),
    `${projectText(project)} as project`,
    ...old,
    `t.bytes_to >= ${pageBytesMax} as is_cut`,
  ].join(", ")}
  from (
    select t.*, sum(value_bytes) over (order by ${keys.join(", ")}) as bytes_to
    from (
      select t.*, ${lengths} as value_bytes from "${name}" t
      ${isBehind ? `where (${keys.join(", ")}) > (${behind.join(", ")})` : ""}
      order by ${keys.join(", ")} limit $1::int4
    ) t
  ) t where t.bytes_to - t.value_bytes < ${pageBytesMax} order by ${keys.join(", ")}`;
}

function projectText(project: RowProject): string {
  if (project === "deployment") return "null::uuid";
  if ("table" in project) {
    const { table, id, by, column } = project;
    return `(select p."${column}" from "${table}" p where p."${id}" = t."${by.name}")`;
  }
  return `t."${project.column.name}"`;
}

function keyOf({ key }: SealedTable, row: Record<string, unknown>): string[] {
  return key.map((_column, index) => String(row[`k${index}`]));
}

/**
 * Returns a list with the row if it contains a value that was encrypted with an old key. Returns an empty list if it does not. Returns an
 * empty list if the row's project is deleted, because then no key can decrypt the value.
 */
function rowOf(table: SealedTable, row: Record<string, unknown>): SealedRow[] {
  const project = row["project"];
  const isOfDeployment = table.project === "deployment" || "isOptional" in table.project;
  if (!isOfDeployment && typeof project !== "string") return [];
  const scope = typeof project === "string" ? idOfUuid("prj", project) : "deployment";
  const values = table.columns.map((column, index) => {
    const sealed = row[`s${index}`];
    if (!Buffer.isBuffer(sealed)) return undefined;
    return { sealed, context: sealedContext(table, column, { scope, stored: (code) => row[`n_${code}`] }) };
  });
  return values.some((value) => value !== undefined) ? [{ key: keyOf(table, row), values }] : [];
}

function writeText({ name, key, columns }: SealedTable): string {
  const parameters = [
    ...key.map((column, index) => `$${1 + index}::text[]::${column.getSQLType()}[]`),
    ...columns.flatMap((_column, index) => [
      `$${key.length + 2 * index + 1}::bytea[]`,
      `$${key.length + 2 * index + 2}::bytea[]`,
    ]),
  ];
  const names = [
    ...key.map((_column, index) => `k${index}`),
    ...columns.flatMap((_column, index) => [`o${index}`, `n${index}`]),
  ];
  const isRow = (of: string) => key.map(({ name: column }, index) => `${of}."${column}" = v.k${index}`).join(" and ");
  const isSame = (of: string, column: string, index: number) =>
    `substring(${of}."${column}" for ${headBytes}) = v.o${index}`;
  const set = columns.map(
    ({ column: { name: column } }, index) =>
      `"${column}" = case when ${isSame("t", column, index)} then v.n${index} else t."${column}" end`,
  );
  const changes = columns.map(({ column: { name: column } }, index) => `(${isSame("l", column, index)})`);
  return `with unrouted as materialized (
    select set_config('svc.reseals', 'on', true) as is_set
  ), written as (
    update "${name}" t set ${set.join(", ")}
    from (
      select v.*, l.changed from unnest(${parameters.join(", ")}) as v(${names.join(", ")})
      cross join lateral (
        select ${changes.map((change) => `coalesce(${change}, false)::int`).join(" + ")} as changed
        from "${name}" l where ${isRow("l")} for update skip locked
      ) l
    ) v, unrouted
    where ${isRow("t")} and v.changed > 0
    returning v.changed
  ) select coalesce(sum(changed), 0)::int8 as count from written`;
}
