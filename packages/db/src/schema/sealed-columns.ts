import { type Column, getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import type { ColumnName } from "../sql/codec.ts";
import { callHooks, hookAnswers, toolCalls } from "./calls.ts";
import { connectedAccounts, toolkitClients } from "./connections.ts";
import { jobAsks, jobPrograms, jobRows, jobSetRows, jobSteps, jobs, jobUndoEntries } from "./jobs.ts";
import { people } from "./people.ts";
import { auditChains, failureGroups } from "./projects.ts";
import { standingPolls, standingPrograms, standingRuns, standingVersions } from "./standing.ts";
import { quarantinedPosts, subscriptions } from "./triggers.ts";
import { deploymentSecrets, oldSubkeys, secrets, webhookSecrets } from "./vault.ts";

/**
 * Rule for finding the project to which a row with encrypted values belongs. Each project has its own data keys, so the project decides
 * which key decrypts the values.
 */
export type RowProject =
  /** In `column` of the row. If `isOptional` is set, a row with null there belongs to the deployment. */
  | { readonly column: PgColumn; readonly isOptional?: true }
  /** In `column` of a row of another table. `by`: the column that contains the `id` of that row. */
  | { readonly by: PgColumn; readonly table: string; readonly id: string; readonly column: string }
  /** The rows belong to the whole deployment. */
  | "deployment";

/**
 * A column with encrypted values. A value can be decrypted only with the context for which it was encrypted: the project (or `deployment`),
 * a slash, and `place`.
 */
export type SealedColumn = {
  readonly column: PgColumn;
  readonly place: string;
};

/** A table that has columns with encrypted values. `key`: columns of the primary key, in order. */
export type SealedTable = {
  readonly name: string;
  readonly key: readonly PgColumn[];
  readonly project: RowProject;
  readonly columns: readonly SealedColumn[];
  /**
   * Columns whose values occur in an encryption context. The context is the text to which an encrypted value is bound, for example
   * `<project>/secrets/<name>`. The keys are the names of the columns in code.
   */
  readonly named: Readonly<Record<string, Column>>;
};

/**
 * All tables that have columns with encrypted values. Each such column has a place, such as `secrets/{name}`. A value can be decrypted only
 * for the place for which it was encrypted.
 */
export const sealedTables: readonly SealedTable[] = [
  // `{name}` is replaced by the row's value of the column with this name; bytes are written in hex. Every column of type bytes must be in
  // this list or in `plainBytes`.
  sealedTable(connectedAccounts, { column: connectedAccounts.projectId }, { credential: "connected_accounts/{id}" }),
  sealedTable(secrets, { column: secrets.projectId }, { value: "secrets/{name}" }),
  sealedTable(
    toolkitClients,
    { column: toolkitClients.projectId },
    { clientSecret: "toolkit_clients/{clientId}/{issuer}" },
  ),
  sealedTable(callHooks, { column: callHooks.projectId }, { signingSecret: "call_hooks/{id}" }),
  sealedTable(hookAnswers, { column: hookAnswers.projectId }, { edit: "hook_answers/{callId}/{hookId}" }),
  sealedTable(
    subscriptions,
    { column: subscriptions.projectId },
    {
      signingSecret: "subscriptions/{id}",
      formerSecret: "subscriptions/{id}/former",
      credentials: "subscriptions/{id}/credentials",
    },
  ),
  sealedTable(
    toolCalls,
    { column: toolCalls.projectId },
    {
      arguments: "tool_calls/{id}/arguments",
      result: "tool_calls/{id}/result",
      sealedMessage: "tool_calls/{id}/message",
      replay: "tool_calls/{id}/replay",
    },
  ),
  sealedTable(failureGroups, { column: failureGroups.projectId }, { title: "failure_groups/{fingerprint}/title" }),
  sealedTable(jobPrograms, { column: jobPrograms.projectId }, { sealedProgram: "job_programs/{digest}" }),
  sealedTable(
    jobs,
    { column: jobs.projectId },
    { input: "jobs/{id}/input", overrides: "jobs/{id}/overrides", progress: "jobs/{id}/progress" },
  ),
  sealedTable(jobSteps, ofJob(jobSteps.jobId), { output: "jobs/{jobId}/steps/{stepId}" }),
  sealedTable(jobRows, ofJob(jobRows.jobId), { data: "jobs/{jobId}/rows/{rowNumber}" }),
  sealedTable(jobSetRows, ofJob(jobSetRows.jobId), { outputs: "jobs/{jobId}/sets/{setId}/{ordinal}" }),
  sealedTable(jobUndoEntries, ofJob(jobUndoEntries.jobId), { args: "jobs/{jobId}/undo/{entry}" }),
  sealedTable(jobAsks, { column: jobAsks.projectId }, { overrides: "job_asks/{id}" }),
  sealedTable(
    standingVersions,
    {
      by: standingVersions.programId,
      table: getTableName(standingPrograms),
      id: standingPrograms.id.name,
      column: standingPrograms.projectId.name,
    },
    { definition: "standing_versions/{programId}/{version}" },
  ),
  sealedTable(standingRuns, { column: standingRuns.projectId }, { input: "standing_runs/{id}/input" }),
  sealedTable(standingPolls, { column: standingPolls.projectId }, { state: "standing_polls/{programId}" }),
  sealedTable(webhookSecrets, { column: webhookSecrets.projectId }, { value: "webhook_secrets/{id}" }),
  sealedTable(
    quarantinedPosts,
    { column: quarantinedPosts.projectId, isOptional: true },
    {
      body: "quarantined_posts/{id}",
      envelope: "quarantined_posts/{id}/envelope",
    },
  ),
  sealedTable(deploymentSecrets, "deployment", { value: "deployment_secrets/{name}" }),
  sealedTable(people, "deployment", { refresh: "people/{id}/refresh" }),
  sealedTable(auditChains, "deployment", { key: "audit_chains/{projectId}" }),
  sealedTable(oldSubkeys, "deployment", { secret: "old_subkeys/{keyId}/{purpose}" }),
];

/**
 * Columns of bytes, by table, that are not encrypted with a data key: digests, seeds, logos, and values that a vault key encrypts directly.
 */
export const plainBytes: Readonly<Record<string, readonly string[]>> = {
  api_keys: ["digest"],
  audit_chains: ["hash", "mac"],
  audit_events: ["about_digest", "hash", "mac"],
  connected_accounts: ["origin_digest"],
  console_links: ["digest"],
  console_sessions: ["cookie_digest", "half_digest", "admin_digest"],
  erasure_programs: ["digest"],
  event_settings: ["logo"],
  // Sealed directly with a vault key. A rotation wraps these keys again.
  data_keys: ["wrapped"],
  vault_check: ["sealed"],
  grant_codes: ["digest"],
  grant_tokens: ["digest"],
  used_assertions: ["digest"],
  invitations: ["digest"],
  device_codes: ["digest", "user_digest"],
  job_attempts: ["content_digest"],
  job_programs: ["digest"],
  jobs: ["call_seed", "program_digest", "content_digest"],
  private_toolkits: ["origin_digest"],
  skills: ["program_digest"],
  standing_polls: ["identity"],
  standing_seen: ["digest", "content"],
  standing_versions: ["program_digest"],
  tool_calls: ["arguments_digest"],
  toolkit_sources: ["digest", "changes_digest"],
  // The vectors need no encryption, because private_toolkits stores the texts that they are made from unencrypted.
  tool_vectors: ["vector"],
};

/**
 * Returns the context to which the encryption binds a value of a row. The value can be decrypted only with the same context. `scope`: the
 * row's project, or `deployment`. `stored`: function that returns the value of a column in the form of the PostgreSQL driver.
 */
export function sealedContext(
  { named }: SealedTable,
  { place }: SealedColumn,
  { scope, stored }: { readonly scope: string; readonly stored: (code: string, column: Column) => unknown },
): string {
  const text = (_whole: string, code: string) => {
    const column = named[code];
    if (column === undefined) throw new Error(`${place} names ${code}, which is not a column of the table`);
    const value: unknown = column.mapFromDriverValue(stored(code, column));
    return Buffer.isBuffer(value) ? value.toString("hex") : String(value);
  };
  return `${scope}/${place.replace(/\{(\w+)\}/g, text)}`;
}

function ofJob(by: PgColumn): RowProject {
  return { by, table: getTableName(jobs), id: jobs.id.name, column: jobs.projectId.name };
}

function sealedTable<Table extends PgTable>(
  table: Table,
  project: RowProject,
  places: { readonly [Name in ColumnName<Table>]?: string },
): SealedTable {
  const columns: Readonly<Record<string, PgColumn>> = getTableColumns(table);
  const columnOf = (name: string): PgColumn => {
    const column = columns[name];
    if (column === undefined) throw new Error(`${getTableName(table)} has no column ${name}`);
    return column;
  };
  const given = Object.entries(places).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const names = new Set(given.flatMap(([, place]) => namesIn(place)));
  return {
    name: getTableName(table),
    key: keyColumns(table),
    project,
    columns: given.map(([name, place]) => ({ column: columnOf(name), place })),
    named: Object.fromEntries([...names].map((name) => [name, columnOf(name)])),
  };
}

/** Returns the columns of a table's primary key, in the key's order. */
export function keyColumns(table: PgTable): PgColumn[] {
  const columns: PgColumn[] = Object.values(getTableColumns(table));
  // The columns in the table's configuration lack their types, so the names are looked up among the table's columns.
  const keyNames = getTableConfig(table).primaryKeys[0]?.columns.map(({ name }) => name);
  const byName = new Map(columns.map((column) => [column.name, column]));
  return keyNames?.flatMap((name) => byName.get(name) ?? []) ?? columns.filter(({ primary }) => primary);
}

function namesIn(place: string): string[] {
  return [...place.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}
