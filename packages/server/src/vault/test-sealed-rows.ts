import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { type Database, type SealedTable, sealedTables } from "@svc/db";

/** A sealed value of a store: where it is, and the context that its owner seals it for. */
export type Planted = {
  readonly table: string;
  readonly column: string;
  readonly where: string;
  readonly context: string;
  readonly text: string;
};

/** What ids of tables begin with, where a place names them. */
const prefixes: Readonly<Record<string, string>> = {
  "connected_accounts.id": "acc",
  "subscriptions.id": "sub",
  "tool_calls.id": "call",
  "jobs.id": "job",
  job_id: "job",
  "job_asks.id": "ask",
  program_id: "stp",
  "standing_runs.id": "srn",
  "quarantined_posts.id": "qrn",
};

/** What stands in a column that must have something, by its type. */
function filler(type: string, n: number): string {
  if (type === "uuid") return `'${uuidOf(n)}'::uuid`;
  if (type === "bytea") return `decode('${hexOf(n)}', 'hex')`;
  if (type.endsWith("[]")) return `'{}'::${type}`;
  if (type === "jsonb") return `'{}'::jsonb`;
  if (type === "boolean") return "false";
  if (type.startsWith("timestamp")) return "now()";
  if (type === "text") return `'t${n}'`;
  return `${n}`;
}

const hexOf = (n: number) => n.toString(16).padStart(64, "0");
const uuidOf = (n: number) => `018bcfe5-6800-7000-8000-${n.toString(16).padStart(12, "0")}`;

/** Rows of every table with sealed columns, `count` of each from number `from` on, whose values are sealed by `seal`. Owners come first. */
export async function plantSealedRows(
  db: Database,
  {
    projectId,
    from,
    count,
    seal,
  }: { projectId: ProjectId; from: number; count: number; seal: (text: string, context: string) => Buffer },
): Promise<Planted[]> {
  await insert(db, "standing_programs", { project: projectId, from, count });
  const first = ["jobs"];
  const tables = [...sealedTables].sort((a, b) => Number(first.includes(b.name)) - Number(first.includes(a.name)));
  const planted: Planted[] = [];
  for (const table of tables) {
    await insert(db, table.name, { project: projectId, from, count });
    for (let n = from; n < from + count; n++) {
      for (const { column, place } of table.columns) {
        const context = `${table.project === "deployment" ? "deployment" : projectId}/${placeOf(table, place, n)}`;
        const text = `value ${n} of ${table.name}.${column.name}`;
        const where = table.key
          .map((key) => {
            const { name } = key;
            const value = name === "project_id" ? `'${uuidOfId(projectId)}'::uuid` : filler(key.getSQLType(), n);
            return `"${name}" = ${value}`;
          })
          .join(" and ");
        const written = await db.sql.unsafe(`update "${table.name}" set "${column.name}" = $1 where ${where}`, [
          seal(text, context),
        ]);
        if (written.count !== 1) throw new Error(`${written.count} rows of ${table.name} are ${where}`);
        planted.push({ table: table.name, column: column.name, where, context, text });
      }
    }
  }
  return planted;
}

function placeOf(table: SealedTable, place: string, n: number): string {
  return place.replace(/\{(\w+)\}/g, (_text, name: string) => {
    const column = table.named[name];
    const type = column?.getSQLType();
    const prefix = prefixes[`${table.name}.${column?.name}`] ?? prefixes[column?.name ?? ""];
    if (type === "uuid") return idOfUuid(prefix as "job", uuidOf(n));
    if (type === "bytea") return hexOf(n);
    return type === "text" ? `t${n}` : `${n}`;
  });
}

async function insert(
  db: Database,
  table: string,
  { project, from, count }: { project: ProjectId; from: number; count: number },
): Promise<void> {
  const columns = await db.sql.unsafe<{ name: string; type: string }[]>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and (attnotnull or attname = 'project_id')`,
    [table],
  );
  for (let n = from; n < from + count; n++) {
    const values = columns.map(({ name, type }) =>
      name === "project_id" ? `'${uuidOfId(project)}'::uuid` : name === "state" ? "'ended'" : filler(type, n),
    );
    await db.sql.unsafe(
      `insert into "${table}" (${columns.map(({ name }) => `"${name}"`).join(", ")}) values (${values.join(", ")})`,
    );
  }
}

/** What stands where values were planted, by context. */
export async function readPlanted(db: Database, planted: readonly Planted[]): Promise<Map<string, Buffer>> {
  const found = planted.map(async ({ table, column, where, context }) => {
    const [row] = await db.sql.unsafe<{ value: Buffer }[]>(
      `select "${column}" as value from "${table}" where ${where}`,
    );
    if (row === undefined) throw new Error(`no row of ${table} is ${where}`);
    return [context, row.value] as const;
  });
  return new Map(await Promise.all(found));
}
