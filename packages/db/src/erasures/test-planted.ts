import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { logEntriesDocument } from "../documents/log-entries.ts";
import { estimateDocument } from "../documents/programs.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { storedColumns } from "../schema/stored-columns.ts";

/**
 * Owner of the rows that a test inserts. `number`: a part of the ids of these rows, to make them different. `marker`: a text that is written
 * into each column that can contain it.
 */
export type PlantedOwner = {
  readonly projectId: ProjectId;
  readonly entityId: string;
  readonly number: number;
  readonly marker: string;
};

/** Name of a column with ids, and the table that it references. */
const named: Readonly<Record<string, string>> = {
  job_id: "jobs",
  program_id: "standing_programs",
  owner_id: "standing_programs",
  event_id: "events",
  run_id: "standing_runs",
  standing_run_id: "standing_runs",
  key_id: "api_keys",
  voucher_key_id: "api_keys",
  session_id: "console_sessions",
  account_id: "connected_accounts",
  grant_id: "grants",
  delivery_id: "deliveries",
  subscription_id: "subscriptions",
};

/** Columns that an erasure reads to find the rows of an entity (customer or user), and the value that each test row gets in them. */
const special: Readonly<Record<string, (owner: PlantedOwner) => string>> = {
  "jobs.binding": ({ entityId, marker }) => json({ entityId, marker }),
  "jobs.estimate": ({ entityId }) => text(estimateDocument.write({ ...noEstimate, entities: [entityId] })),
  "standing_versions.estimate": ({ entityId }) => text(estimateDocument.write({ ...noEstimate, entities: [entityId] })),
  "standing_programs.binding": ({ entityId, marker }) => json({ entityId, marker }),
  "contacts.reach": ({ entityId, marker }) => json({ entityId, marker }),
  "console_links.target": ({ entityId, marker }) => json({ connect: { entityId, marker } }),
  "standing_runs.source_key": (owner) => text(`e:${idOfUuid("evt", uuidOf("events", owner.number))}`),
  "job_asks.event_ids": (owner) => `array[${text(idOfUuid("evt", uuidOf("events", owner.number)))}]`,
  // Values of columns that connect delivery tasks and inbox events to their owners.
  "deliveries.next_attempt_at": () => "'2026-01-05T09:00:00Z'",
  "delivery_tasks.due_at": () => "'2026-01-05T09:00:00Z'",
  "events.received_at": () => "'2026-01-05T09:00:00Z'",
  "standing_arrivals.due_at": () => "'2026-01-05T09:00:00Z'",
  "job_programs.digest": programDigest,
  "jobs.program_digest": programDigest,
  "skills.program_digest": programDigest,
  "standing_versions.program_digest": programDigest,
  "jobs.finished_at": () => "now()",
  "job_events.following": ({ marker }) =>
    text(logEntriesDocument.write([{ type: "step-progress", stepId: "", payload: json({ marker }).slice(1, -1) }])),
};

function programDigest({ marker }: PlantedOwner): string {
  return `decode('${Buffer.from(`${marker}/program`).toString("hex")}', 'hex')`;
}

const noEstimate = {
  ...{ callsMin: 0, callsMax: 0, writesMax: 0, destructiveMax: 0, rowsMax: 0, asksMax: 0 },
  ...{ accessClasses: [], toolkits: [], entities: [] as string[], notCompensable: [] },
};

/**
 * Inserts a test row of the entity (customer or user) into every table whose rows can belong to an entity. Tests use these rows to check
 * that an erasure deletes all of them. Returns the names of those tables.
 */
export async function plantRows(db: Executor, owner: PlantedOwner): Promise<string[]> {
  const planted: string[] = [];
  for (const { table, entity } of ownersFirst()) {
    const isEntitys = typeof entity === "string" || !("none" in entity);
    if (!isEntitys && getTableName(table) !== "console_sessions") continue;
    await insertRow(db, table, owner);
    if (isEntitys) planted.push(getTableName(table));
  }
  return planted;
}

/** For tests: returns the tables that contain a row with the text `marker`. */
export async function tablesWith(db: Executor, marker: string): Promise<string[]> {
  const tables = [...new Set(storedColumns().map(({ table }) => table))];
  const hex = Buffer.from(marker).toString("hex");
  const found: string[] = [];
  for (const table of tables) {
    const rows = await db.sql.unsafe(
      `select 1 from "${table}" r where position($1::text in r::text) > 0 or position($2::text in r::text) > 0 limit 1`,
      [marker, hex],
    );
    if (rows.length > 0) found.push(table);
  }
  return found;
}

/** Returns the tables in an order in which rows that foreign keys reference are inserted first. */
function ownersFirst() {
  const first = ["console_sessions", "api_keys", "grants"];
  const rank = (table: PgTable) => (first.indexOf(getTableName(table)) + first.length + 1) % (first.length + 1);
  return erasedTables.toSorted((a, b) => rank(a.table) - rank(b.table));
}

async function insertRow(db: Executor, table: PgTable, owner: PlantedOwner): Promise<void> {
  const name = getTableName(table);
  const columns = Object.values(getTableColumns(table)).filter(
    (column) => !("generatedIdentity" in column) || column.generatedIdentity === undefined,
  );
  const values = columns.map((column) => plantedValue(name, column, owner));
  const names = columns.map((column) => `"${column.name}"`).join(", ");
  await db.sql.unsafe(`insert into "${name}" (${names}) values (${values.join(", ")})`);
}

function plantedValue(table: string, described: PgColumn, owner: PlantedOwner): string {
  const { name: column, notNull: isNeeded } = described;
  const type = described.getSQLType();
  const { projectId, entityId, number, marker } = owner;
  const given = special[`${table}.${column}`]?.(owner);
  if (given !== undefined) return given;
  if (column === "project_id") return `'${uuidOfId(projectId as Id<"prj">)}'`;
  if (column === "entity_id") return text(entityId);
  const words = `${marker}/${table}/${column}/${entityId}`;
  if (type === "uuid") {
    const of = named[column] ?? (column === "id" ? table : undefined);
    return of === undefined && !isNeeded ? "null" : `'${uuidOf(of ?? column, number)}'`;
  }
  if (type === "text") return text(words);
  if (type === "text[]") return `array[${text(words)}]`;
  if (type === "jsonb") return json({ words });
  if (type === "bytea") return `decode('${Buffer.from(words).toString("hex")}', 'hex')`;
  if (type === "boolean") return "false";
  if (type.startsWith("timestamp")) return isNeeded ? "now()" : "null";
  return "1";
}

function uuidOf(table: string, number: number): string {
  const sum = [...table].reduce((total, character) => (total * 31 + (character.codePointAt(0) ?? 0)) % 0xffff, 7);
  return `018bcfe5-6800-7000-8000-${sum.toString(16).padStart(4, "0")}${number.toString(16).padStart(8, "0")}`;
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function json(value: object): string {
  return text(JSON.stringify(value));
}
