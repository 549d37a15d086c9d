import type { ProjectId } from "@svc/core";
import { type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { apiKeys, grantClients, grantCodes, grants, people, personSeats } from "../schema/index.ts";
import { isOfMoved, type MovedTable, movedTables, projectLiteral } from "./tables.ts";

/** A function that converts an encrypted value of a moved project for the destination, whose data keys have other numbers. */
export type TranslateSealed = (table: string, sealed: Buffer) => Buffer;

/** Parameters for copying a project's rows from one deployment to another. `from` and `to`: an open transaction in each. */
export type ProjectCopy = {
  readonly from: Executor;
  readonly to: Executor;
  readonly projectId: ProjectId;
  /** Name of the project in the destination. */
  readonly name: string;
  /** Name of the destination's cell. */
  readonly cell: string;
  readonly translate: TranslateSealed;
  readonly onProgress?: ((table: string, rows: number) => void) | undefined;
};

/** Maximum rows, and about the maximum bytes, that one statement writes. */
const page = { rows: 200, bytes: 4_194_304 };

/**
 * Removes the time limits of statements and idle transactions until the end of the transaction, because copying a large project takes
 * minutes.
 */
export async function allowLong(tx: Executor): Promise<void> {
  await tx.orm.execute(sql`select set_config('statement_timeout', '0', true),
    set_config('idle_in_transaction_session_timeout', '0', true), set_config('svc.reseals', 'on', true)`);
}

/** Copies all rows of a project except its data keys. Returns the number of rows by table. */
export async function copyProject(copy: ProjectCopy): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  const personOf = await copyPeople(copy);
  for (const table of movedTables) {
    if (table.name === "grants") await copyClients(copy);
    counts[table.name] = await copyTable(copy, table, table.table === personSeats ? personOf : undefined);
  }
  return counts;
}

type SourceRow = { readonly rest: string } & Readonly<Record<`s${number}`, Buffer | null>>;

async function copyTable(copy: ProjectCopy, moved: MovedTable, seat: SQL | undefined): Promise<number> {
  const { from, projectId, translate, onProgress } = copy;
  const { name, table, sealed } = moved;
  const sealedColumns = sealed.map((column, index) => sql`, ${column} as ${sql.identifier(`s${index}`)}`);
  const rest = sql`(to_jsonb(${table}) ${without(sealed.map((column) => column.name))})::text`;
  await from.orm.execute(sql`declare moved_rows no scroll cursor for
    select ${rest} as rest ${sql.join(sealedColumns, sql``)} from ${table} where ${isOfMoved(moved, projectId)}`);
  let count = 0;
  for (;;) {
    const rows: readonly SourceRow[] = await from.orm.execute(sql.raw(`fetch ${page.rows} from moved_rows`));
    if (rows.length === 0) break;
    let [texts, bytes]: [string[], number] = [[], 0];
    for (const row of rows) {
      const text = rowText(moved, row, translate);
      if (bytes + text.length > page.bytes && texts.length > 0) {
        await insertRows(copy, moved, texts, seat);
        [texts, bytes] = [[], 0];
      }
      texts.push(text);
      bytes += text.length;
    }
    await insertRows(copy, moved, texts, seat);
    count += rows.length;
    onProgress?.(name, count);
  }
  await from.orm.execute(sql`close moved_rows`);
  return count;
}

/** Returns a row as JSON text. The text of the other columns is not parsed, so numbers keep all their digits. */
function rowText({ name, sealed }: MovedTable, row: SourceRow, translate: TranslateSealed): string {
  const values = sealed.flatMap((column, index) => {
    const value = row[`s${index}`];
    if (value === null || value === undefined) return [];
    return `,${JSON.stringify(column.name)}:"\\\\x${(value.byteLength === 0 ? value : translate(name, value)).toString("hex")}"`;
  });
  return `${row.rest.slice(0, -1)}${values.join("")}}`;
}

async function insertRows(
  { to, name: projectName, cell }: ProjectCopy,
  { name, table, columns, changed, onConflict }: MovedTable,
  texts: readonly string[],
  seat: SQL | undefined,
): Promise<void> {
  const own: Readonly<Record<string, SQL>> =
    name === "projects" ? { name: sql`${projectName}`, moved_to: sql`${cell}` } : {};
  const values = columns.map((column) => {
    if (seat !== undefined && column.name === "person_id") return seat;
    return own[column.name] ?? changed[column.name] ?? sql`r.${sql.identifier(column.name)}`;
  });
  const names = columns.map((column) => sql.identifier(column.name));
  await to.orm.execute(sql`insert into ${table} (${sql.join(names, sql`, `)}) select ${sql.join(values, sql`, `)}
    from json_populate_recordset(null::${table}, ${`[${texts.join(",")}]`}::json) r ${onConflict}`);
}

/**
 * Copies the people who have seats in the project. A person whom the destination knows already keeps the id of the destination. Returns the
 * SQL for the person of a seat `r` in the destination.
 */
async function copyPeople({ from, to, projectId }: ProjectCopy): Promise<SQL> {
  const [source] = await from.orm.execute<{
    people: string;
  }>(sql`select coalesce(json_agg(p), '[]')::text as people from (
    select (to_jsonb(${people}) - 'refresh') as p from ${people}
    where ${people.id} in (select ${personSeats.personId} from ${personSeats} where ${personSeats.projectId} = ${projectLiteral(projectId)})) s`);
  const rows = source?.people ?? "[]";
  // `json_agg` of one column gives objects with the key `p`.
  const read = sql`json_populate_recordset(null::${people}, (select coalesce(json_agg(e -> 'p'), '[]') from json_array_elements(${rows}::json) e))`;
  await to.orm.execute(sql`insert into ${people} select * from ${read} on conflict do nothing`);
  return sql`(select d.id from ${read} s join ${people} d on d.issuer = s.issuer and d.subject = s.subject where s.id = r.person_id)`;
}

/** Copies the programs that registered themselves and that have grants of the project. */
async function copyClients({ from, to, projectId }: ProjectCopy): Promise<void> {
  const id = projectLiteral(projectId);
  const [source] = await from.orm.execute<{
    clients: string;
  }>(sql`select coalesce(json_agg(to_json(c)), '[]')::text as clients from ${grantClients} c
    where c.id in (select ${grants.clientId} from ${grants} where ${grants.projectId} = ${id}
      union select ${grantCodes.clientId} from ${grantCodes} where ${grantCodes.projectId} = ${id})`);
  await to.orm.execute(sql`insert into ${grantClients} select * from json_populate_recordset(null::${grantClients}, ${source?.clients ?? "[]"}::json)
    on conflict do nothing`);
}

/** Number and digest of the rows of a table. Equal rows have an equal digest, in any order. */
export type RowsDigest = { readonly table: string; readonly count: number; readonly digest: string };

/**
 * Returns the number and the digest of a project's rows in each table, to compare two deployments. `asCopied`: leaves out values that a move
 * changes, so that equal copies have equal digests. If false, leaves out counts for charts, which nodes write later.
 */
export async function digestProject(
  db: Executor,
  projectId: ProjectId,
  { asCopied }: { readonly asCopied: boolean },
): Promise<readonly RowsDigest[]> {
  const digests: RowsDigest[] = [];
  for (const moved of movedTables) {
    if (asCopied ? moved.merges : moved.isCounted) continue;
    const { name, table, volatile, sealed, changed } = moved;
    const own = asCopied
      ? [...sealed.map((column) => column.name), ...Object.keys(changed), ...(ownColumns[name] ?? [])]
      : [];
    const row = sql`(to_jsonb(${table}) ${without([...volatile, ...own])})::text`;
    const [found] = await db.orm.execute<{ count: string; digest: string }>(sql`select count(*)::text as count,
      coalesce(sum(('x' || left(md5(${row}), 15))::bit(60)::int8), 0)::text as digest from ${table} where ${isOfMoved(moved, projectId)}`);
    digests.push({ table: name, count: Number(found?.count ?? 0), digest: found?.digest ?? "0" });
  }
  return digests;
}

/** Columns that a move changes by a value of the destination. */
const ownColumns: Readonly<Record<string, readonly string[]>> = {
  projects: ["name", "moved_to"],
  person_seats: ["person_id"],
};

/** Compares two lists of table digests, and returns the names of the tables whose rows differ. */
export function tablesThatDiffer(a: readonly RowsDigest[], b: readonly RowsDigest[]): string[] {
  return a.flatMap((one) => {
    const other = b.find(({ table }) => table === one.table);
    return other?.count === one.count && other.digest === one.digest ? [] : [one.table];
  });
}

/** Deletes all rows of a project that has moved to another deployment, except its audit log. Returns the number of deleted rows. */
export async function deleteMoved(tx: Executor, projectId: ProjectId): Promise<number> {
  let count = 0;
  const id = projectLiteral(projectId);
  await tx.orm.execute(
    sql`delete from console_seats where key_id in (select ${apiKeys.id} from ${apiKeys} where ${apiKeys.projectId} = ${id})`,
  );
  for (const moved of movedTables.toReversed()) {
    if (moved.stays) continue;
    if (moved.name === "projects") await tx.orm.execute(sql`delete from data_keys where project_id = ${id}`);
    const rows = await tx.orm.execute<{ count: string }>(sql`with gone as (
      delete from ${moved.table} where ${isOfMoved(moved, projectId)} returning 1) select count(*)::text as count from gone`);
    count += Number(rows[0]?.count ?? 0);
  }
  return count;
}

/** Returns SQL that removes keys from a JSON object. */
function without(names: readonly string[]): SQL {
  return names.length === 0 ? sql`` : sql.raw(`- array[${names.map((name) => `'${name}'`).join(", ")}]::text[]`);
}
