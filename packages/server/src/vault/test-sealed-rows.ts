import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type SealedTable, sealedTables } from "@svc/db/schema/sealed-columns";

/** An encrypted value that a test inserted into the database: its table, column and row, and the context for which it is encrypted. */
export type PlantedRow = {
  readonly table: string;
  readonly column: string;
  readonly where: string;
  readonly context: string;
  readonly text: string;
};

/**
 * Prefixes of ids (such as `acc` in `acc_…`), by table and column or by column. Some encrypted values are bound to a text that contains the
 * id of their row. A test makes this text from the prefix and the row's UUID.
 */
const prefixes: Readonly<Record<string, string>> = {
  "connected_accounts.id": "acc",
  "call_hooks.id": "hok",
  call_id: "call",
  hook_id: "hok",
  "subscriptions.id": "sub",
  "tool_calls.id": "call",
  "jobs.id": "job",
  "people.id": "per",
  job_id: "job",
  "job_asks.id": "ask",
  program_id: "stp",
  "standing_runs.id": "srn",
  "quarantined_posts.id": "qrn",
  "webhook_secrets.id": "wsc",
  "audit_chains.project_id": "prj",
};

/** Returns a value for a required column of this type, so that a test can insert a row. */
function filler(type: string, n: number): string {
  if (type === "uuid") return `'${uuidOf(n)}'::uuid`;
  if (type === "bytea") return `decode('${hexOf(n)}', 'hex')`;
  if (type.endsWith("[]")) return `'{}'::${type}`;
  if (type === "jsonb") return `'{}'::jsonb`;
  if (type === "boolean") return "false";
  if (type.startsWith("timestamp")) return `to_timestamp(${1_700_000_000 + n})`;
  if (type === "text") return `'t${n}'`;
  return `${n}`;
}

const hexOf = (n: number) => n.toString(16).padStart(64, "0");
const uuidOf = (n: number) => `018bcfe5-6800-7000-8000-${n.toString(16).padStart(12, "0")}`;

/**
 * Inserts rows into every table with encrypted columns: `count` rows into each, numbered from `number` on, with values from `seal`. Tables
 * that others refer to come first.
 */
export async function plantSealedRows(
  db: Database,
  {
    projectId,
    from,
    count,
    seal,
  }: { projectId: ProjectId; from: number; count: number; seal: (text: string, context: string) => Buffer },
): Promise<PlantedRow[]> {
  const numbers = Array.from({ length: count }, (_value, index) => from + index);
  // A table that has the project as its key can have only one row for each project.
  const ofProjects = new Set(
    sealedTables.filter(({ key }) => key.length === 1).map(({ name, key }) => `${name}.${key[0]?.name}`),
  );
  const fill = (table: string, name: string, type: string, n: number) => {
    if (name !== "project_id" || ofProjects.has(`${table}.project_id`)) return filler(type, n);
    return isOfNoProject(table, n) ? "null::uuid" : `'${uuidOfId(projectId)}'::uuid`;
  };
  const insert = async (table: string, given: ReadonlyMap<string, ReadonlyMap<number, Buffer>>) => {
    const columns = await columnsOf(db, table, [...given.keys()]);
    const rows = numbers.map((n) => {
      const values = columns.map(({ name, type }) => {
        const sealed = given.get(name)?.get(n);
        if (sealed !== undefined) return `decode('${sealed.toString("hex")}', 'hex')`;
        return name === "state" ? "'ended'" : fill(table, name, type, n);
      });
      return `(${values.join(", ")})`;
    });
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    await db.sql.unsafe(`insert into "${table}" (${names}) values ${rows.join(", ")}`);
  };
  await insert("standing_programs", new Map());
  const isFirst = ({ name }: SealedTable) => Number(name === "jobs");
  const planted: PlantedRow[] = [];
  for (const table of [...sealedTables].sort((a, b) => isFirst(b) - isFirst(a))) {
    const given = new Map<string, Map<number, Buffer>>();
    for (const { column, place } of table.columns) {
      const values = new Map<number, Buffer>();
      for (const n of numbers) {
        const isOfDeployment = table.project === "deployment" || isOfNoProject(table.name, n);
        const context = `${isOfDeployment ? "deployment" : projectId}/${placeOf(table, place, n)}`;
        const text = `value ${n} of ${table.name}.${column.name}`;
        const where = table.key
          .map((key) => `"${key.name}" = ${fill(table.name, key.name, key.getSQLType(), n)}`)
          .join(" and ");
        values.set(n, seal(text, context));
        planted.push({ table: table.name, column: column.name, where, context, text });
      }
      given.set(column.name, values);
    }
    await insert(table.name, given);
  }
  return planted;
}

/** Returns true if row `n` gets no project in the test data. In tables whose rows may have no project, this is every second row. */
function isOfNoProject(name: string, n: number): boolean {
  const project = sealedTables.find((table) => table.name === name)?.project;
  return typeof project === "object" && "isOptional" in project && n % 2 === 1;
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

/**
 * For test rows: returns the columns that must get a value. They are the table's required columns, the project's column, and the columns in
 * `given`.
 */
function columnsOf(db: Database, table: string, given: readonly string[]): Promise<{ name: string; type: string }[]> {
  return db.sql.unsafe<{ name: string; type: string }[]>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped
       and (attnotnull or attname = 'project_id' or attname = any($2::text[]))`,
    [table, `{${given.join(",")}}`],
  );
}

/**
 * Returns the current values of the columns into which the test inserted encrypted values, by the context that each value is encrypted for.
 */
export async function readPlanted(db: Database, planted: readonly PlantedRow[]): Promise<Map<string, Buffer>> {
  const rows = await db.sql.unsafe<{ n: number; value: Buffer }[]>(
    planted
      .map(({ table, column, where }, n) => `select ${n} as n, "${column}" as value from "${table}" where ${where}`)
      .join(" union all "),
  );
  return new Map(rows.map(({ n, value }) => [planted[n]?.context ?? "", value]));
}
