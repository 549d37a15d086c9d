import { type ProjectId, uuidOfId } from "@svc/core";
import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import { erasedTables } from "../schema/erased-tables.ts";
import * as t from "../schema/index.ts";
import { sealedTables } from "../schema/sealed-columns.ts";

/** A table with rows of projects, and how its rows are copied when a project moves to another cell. */
export type MovedTable = {
  readonly name: string;
  readonly table: PgTable;
  readonly columns: readonly PgColumn[];
  /** Columns with encrypted values, which get the numbers of the destination's data keys. */
  readonly sealed: readonly PgColumn[];
  /** SQL for the value of a column in the destination, if it is not the value of the source. The row has the name `r`. */
  readonly changed: Readonly<Record<string, SQL>>;
  /** Columns that nodes change without a meaning for the move. They are not compared. */
  readonly volatile: readonly string[];
  /** True if the rows are counts for charts, which nodes write some seconds later. Their last changes may be lost. */
  readonly isCounted: boolean;
  /** True if the destination may have rows already, so that the rows of both are not compared. */
  readonly merges: boolean;
  /** True if the rows stay in the old cell when its copy of the project is deleted. */
  readonly stays: boolean;
  /** SQL after the values of an insert, for rows that the destination may have already. */
  readonly onConflict: SQL;
};

/** Tables with rows of a project that do not move: sessions of browsers, erasures, and positions of exports, which belong to a cell. */
const left: ReadonlySet<PgTable> = new Set<PgTable>([
  t.consoleSeats,
  t.consoleSessions,
  t.erasures,
  t.erasurePrograms,
  t.exportPositions,
  // Wrapped again for the destination, so that they get numbers of their own.
  t.dataKeys,
]);

const currentEpoch = sql`(select e.epoch from ${t.deliveryEpoch} e where e.id = 1)`;

const changes: ReadonlyMap<PgTable, Readonly<Record<string, SQL>>> = new Map<PgTable, Readonly<Record<string, SQL>>>([
  [t.projects, { hold: sql`'arriving'` }],
  // The queue of each cell has its own epoch. Tasks that wait for a retry are in epoch 0.
  [t.deliveryTasks, { epoch: sql`sign(r.epoch)::int4 * ${currentEpoch}` }],
]);

const isNewerChain = sql`on conflict (project_id) do update set key = excluded.key, length = excluded.length, hash = excluded.hash,
  mac = excluded.mac where audit_chains.length <= excluded.length`;
const isUnplaced = sql`on conflict (id) do update set outcome = excluded.outcome, position = excluded.position, mac = excluded.mac,
  hash = excluded.hash where audit_events.position is null`;

const conflicts: ReadonlyMap<PgTable, SQL> = new Map<PgTable, SQL>([
  // A project that was in the destination before has rows there: the audit log is never deleted.
  [t.auditChains, isNewerChain],
  [t.auditEvents, isUnplaced],
  [t.toolVectors, sql`on conflict do nothing`],
]);

const counted: ReadonlySet<PgTable> = new Set<PgTable>([t.activityMinutes, t.activityHours, t.failureGroups]);

/**
 * The tables with rows of a project, in the order in which a move writes them: a table comes after the tables that its rows refer to. Every
 * table with rows of projects is here, or is listed in `left` with a reason.
 */
export const movedTables: readonly MovedTable[] = orderedTables().map(movedTable);

function orderedTables(): readonly PgTable[] {
  const ordered = new Set<PgTable>();
  const visiting = new Set<PgTable>();
  const visit = (table: PgTable) => {
    if (visiting.has(table) || left.has(table) || !isOfProject(table)) return;
    visiting.add(table);
    for (const before of tablesBefore(table)) visit(before);
    ordered.add(table);
  };
  for (const { table } of erasedTables) visit(table);
  return [...ordered];
}

/** Returns the tables to whose rows the rows of a table refer. */
function tablesBefore(table: PgTable): readonly PgTable[] {
  const referenced = getTableConfig(table).foreignKeys.map((key) => key.reference().foreignTable);
  const parents = erasedTables.find((one) => one.table === table)?.parents ?? [];
  // A trigger adds a row of the audit log for a destructive call, unless the row is there.
  const audited = table === t.toolCalls ? [t.auditEvents] : [];
  return [...referenced, ...parents.map((parent) => parent.table), ...audited];
}

function movedTable(table: PgTable): MovedTable {
  const name = getTableName(table);
  return {
    ...{ name, table, columns: Object.values(getTableColumns(table)) },
    sealed: sealedTables.find((one) => one.name === name)?.columns.map(({ column }) => column) ?? [],
    changed: changes.get(table) ?? {},
    volatile: table === t.apiKeys ? ["last_used_at"] : table === t.deliveryTasks ? ["epoch"] : [],
    isCounted: counted.has(table),
    merges: conflicts.has(table),
    stays: table === t.auditChains || table === t.auditEvents,
    onConflict: conflicts.get(table) ?? sql``,
  };
}

function projectColumn(table: PgTable): PgColumn | undefined {
  return table === t.projects ? t.projects.id : getTableColumns(table)["projectId"];
}

function parentOf(table: PgTable) {
  const parents = erasedTables.find((one) => one.table === table)?.parents ?? [];
  return parents.find((parent) => projectColumn(parent.table) !== undefined);
}

function isOfProject(table: PgTable): boolean {
  return projectColumn(table) !== undefined || parentOf(table) !== undefined;
}

/** Returns the SQL condition that a row of the table belongs to the project, directly or by its parent row. */
export function isOfMoved({ name, table }: Pick<MovedTable, "name" | "table">, projectId: ProjectId): SQL {
  const own = projectColumn(table);
  const id = projectLiteral(projectId);
  if (own !== undefined) return sql`${own} = ${id}`;
  const parent = parentOf(table);
  const column = parent && projectColumn(parent.table);
  if (parent === undefined || column === undefined) throw new Error(`${name} has no rows of a project`);
  return sql`exists (select from ${parent.table} where ${column} = ${id} and ${parent.on})`;
}

/** Returns the project's UUID as an SQL literal, because a copy between databases uses statements without parameters. */
export function projectLiteral(projectId: ProjectId): SQL {
  return sql.raw(`'${uuidOfId(projectId)}'::uuid`);
}
