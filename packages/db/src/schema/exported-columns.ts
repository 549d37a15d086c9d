import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { erasedTables } from "./erased-tables.ts";

type Columns = Readonly<Record<string, readonly string[]>>;

/**
 * Sealed columns that an export of an entity contains in clear, by table: messages and results. Values that tool schemas mark as secret
 * were already masked when they were stored. A test fails if a sealed column is neither here nor in `closedColumns`.
 */
export const openedColumns: Columns = {
  tool_calls: ["result", "sealed_message"],
  standing_polls: ["state"],
};

/** Sealed columns that no export contains in clear, by table: their content would allow a reader to act. */
export const closedColumns: Columns = {
  connected_accounts: ["credential"],
  secrets: ["value"],
  deployment_secrets: ["value"],
  subscriptions: ["signing_secret", "former_secret"],
  call_hooks: ["signing_secret"],
  quarantined_posts: ["body", "envelope"],
  audit_chains: ["key"],
  old_subkeys: ["secret"],
  // Values as sent to apps and received from apps, including tokens and keys. They are masked only for display, according to the schemas of
  // the steps.
  tool_calls: ["arguments", "replay"],
  hook_answers: ["edit"],
  jobs: ["input", "overrides", "progress"],
  job_programs: ["sealed_program"],
  standing_versions: ["definition"],
  job_steps: ["output"],
  job_rows: ["data"],
  job_set_rows: ["outputs"],
  job_undo_entries: ["args"],
  job_asks: ["overrides"],
  standing_runs: ["input"],
};

/**
 * Returns how an export contains a column: as it is, opened, or left out. A column of bytes (digests, seeds, sealed values) is left out
 * unless `openedColumns` lists it.
 */
export function exportOf(table: PgTable, column: PgColumn): "as it is" | "opened" | "left out" {
  if (column.getSQLType() !== "bytea") return "as it is";
  return openedColumns[getTableName(table)]?.includes(column.name) === true ? "opened" : "left out";
}

function leftOutColumns(table: PgTable): string[] {
  return Object.values(getTableColumns(table)).flatMap((column) =>
    exportOf(table, column) === "left out" ? [column.name] : [],
  );
}

/** Returns the columns that exports leave out, by table. Only tables with rows of an entity that have such columns are included. */
export function leftOutOfExports(): Record<string, string[]> {
  const ofEntities = erasedTables.filter(({ entity }) => typeof entity === "string" || !("none" in entity));
  const all = ofEntities.map(({ table }) => [getTableName(table), leftOutColumns(table)] as const);
  return Object.fromEntries(all.filter(([, columns]) => columns.length > 0));
}
