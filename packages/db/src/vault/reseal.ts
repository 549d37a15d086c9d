import { idOfUuid } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type RowProject, type SealedTable, sealedContext, sealedTables } from "../schema/sealed-columns.ts";
import { arrayLiteral, bytesArrayLiteral } from "../sql/statement.ts";

/** A value that another key sealed than those that seal now, and the context it is bound to. */
export type OldValue = { readonly sealed: Buffer; readonly context: string };

/** Where a walk over a table stands: behind the row of this key, as JSON text; empty at its beginning. */
export type WalkPosition = string;

/** Rows of a table, in the order of its primary key. */
export type SealedPage = {
  readonly rows: readonly SealedRow[];
  /** How many were looked at. */
  readonly seen: number;
  /** Undefined behind the last row. */
  readonly next: WalkPosition | undefined;
};

/** A row with values to be sealed anew: by sealed column, undefined for what stays. */
export type SealedRow = { readonly key: readonly string[]; readonly values: readonly (OldValue | undefined)[] };

/** Bytes that tell one sealed value from another: they hold its nonce. */
const headBytes = 48;
/** Of the sealed values of a page, beyond which it ends. */
const pageBytesMax = 4_194_304;

/** The tables with sealed columns, in the order in which they are gone through. */
export function sealedTableNames(): readonly string[] {
  return sealedTables.map(({ name }) => name);
}

/**
 * Reads the next rows of a table, at most `limit` of them. A value is old when its bytes come before `oldBefore`: vault keys stand before data
 * keys, and those before newer ones. By the primary key, whatever the statistics say; a rotation alone runs it.
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
 * Puts new values in the place of those that were read, and answers how many there were. What was changed meanwhile stays as it is, and so does
 * a row that somebody holds: nothing here ever waits for another, which may be waiting for a row of this one.
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
  const [counted] = await db.sql.unsafe<{ count: string }[]>(writeText(table), [...keys, ...values]);
  return Number(counted?.count ?? 0);
}

/** About how many rows the tables have, as PostgreSQL last counted them. */
export async function countSealedRows(db: Executor): Promise<number> {
  const [row] = await db.sql.unsafe<{ rows: string }[]>(
    "select coalesce(sum(greatest(reltuples, 0)), 0)::int8 as rows from pg_class where oid = any($1::regclass[]::oid[])",
    [arrayLiteral(sealedTableNames())],
  );
  return Number(row?.rows ?? 0);
}

function tableOf(name: string): SealedTable {
  const table = sealedTables.find((one) => one.name === name);
  if (table === undefined) throw new Error(`${name} is no table with sealed columns`);
  return table;
}

/** Keys as texts, whose order is not theirs: it is the index that orders. */
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

/** None for a row without an old value, and for one whose project is gone: nothing opens that. */
function rowOf(table: SealedTable, row: Record<string, unknown>): SealedRow[] {
  const project = row["project"];
  if (table.project !== "deployment" && typeof project !== "string") return [];
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
  return `with written as (
    update "${name}" t set ${set.join(", ")}
    from (
      select v.*, l.changed from unnest(${parameters.join(", ")}) as v(${names.join(", ")})
      cross join lateral (
        select ${changes.map((change) => `coalesce(${change}, false)::int`).join(" + ")} as changed
        from "${name}" l where ${isRow("l")} for update skip locked
      ) l
    ) v
    where ${isRow("t")} and v.changed > 0
    returning v.changed
  ) select coalesce(sum(changed), 0)::int8 as count from written`;
}
