import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { erasedTables } from "./erased-tables.ts";

type Columns = Readonly<Record<string, readonly string[]>>;

/**
 * Encrypted columns that an export of an entity (customer or user) contains decrypted, by table: messages and results. Values that tool
 * schemas mark as secret were already masked when they were stored. Each encrypted column must be in this list or in `closedColumns`;
 * otherwise a test fails.
 */
export const openedColumns: Columns = {
  tool_calls: ["result", "sealed_message"],
  standing_polls: ["state"],
};

/**
 * Encrypted columns that no export contains decrypted, by table. Their content gives access: a reader could sign in or send requests with
 * it.
 */
export const closedColumns: Columns = {
  connected_accounts: ["credential"],
  secrets: ["value"],
  webhook_secrets: ["value"],
  deployment_secrets: ["value"],
  toolkit_clients: ["client_secret"],
  subscriptions: ["signing_secret", "former_secret", "credentials"],
  call_hooks: ["signing_secret"],
  quarantined_posts: ["body", "envelope"],
  audit_chains: ["key"],
  failure_groups: ["title"],
  old_subkeys: ["secret"],
  people: ["refresh"],
  // These columns are not exported. They contain values exactly as svc sent them to apps or received them, including tokens and keys.
  // Sensitive values in them are masked only when they are displayed.
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
 * Returns how an export contains a column: unchanged (`as it is`), decrypted (`opened`), or not at all (`left out`). A column of bytes
 * (digests, seeds, encrypted values) is left out unless `openedColumns` lists it.
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

/**
 * Returns the columns that exports leave out, by table name. The list has only tables whose rows can belong to an entity (customer or
 * user). A table without such columns is absent.
 */
export function leftOutOfExports(): Record<string, string[]> {
  const ofEntities = erasedTables.filter(({ entity }) => typeof entity === "string" || !("none" in entity));
  const all = ofEntities.map(({ table }) => [getTableName(table), leftOutColumns(table)] as const);
  return Object.fromEntries(all.filter(([, columns]) => columns.length > 0));
}
