import { getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { type Database, openDatabase } from "./connect.ts";
import { countMigrations, type MigrationCounts, oldestServer } from "./migrate.ts";
import * as schema from "./schema/index.ts";
import { findVaultCheck } from "./vault/rotations.ts";

/** Facts about a PostgreSQL database that decide if svc can work with it. */
export type DatabaseFacts = {
  /** Version of the server, such as `18.4`. */
  readonly version: string;
  /** True if the server is older than the oldest PostgreSQL that svc works with. */
  readonly isTooOld: boolean;
  /** True if a connection pooler in front of the server drops the settings of sessions. */
  readonly isPooled: boolean;
  /** Name of the role with which svc connects. */
  readonly role: string;
  /** True if the server accepts no writes, because it is a standby or its transactions are read-only. */
  readonly isReadOnly: boolean;
  /** Rights that svc needs and the role lacks, such as `CREATE on the schema public`. */
  readonly missingRights: readonly string[];
  readonly migrations: MigrationCounts;
  /** The sealed known text by which a process tests its vault key. Undefined before the first start of svc, or if rights are missing. */
  readonly vaultCheck: Buffer | undefined;
};

/**
 * Opens one connection to a database, with the session settings of svc, to examine it. It connects at the first query. A statement ends
 * after 30 seconds, and the caller limits the time of the whole examination.
 */
export function openExamined(url: string): Database {
  return openDatabase({ url, connectionsMax: 1, applicationName: "svc doctor" });
}

/** Reads the facts about a database. Changes nothing. Rejects with the driver's error if the database is unavailable. */
export async function examineDatabase(db: Database): Promise<DatabaseFacts> {
  const { sql } = db;
  const [server] = await sql<[ServerRow]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int4 as number,
      current_setting('svc.session', true) is null as "isPooled", current_user as role, current_database() as database, to_regclass('public.vault_check') is not null as "hasVaultCheck",
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool as "isReadOnly",
      has_database_privilege(current_database(), 'create') as "createsSchemas",
      coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = 'public'), false) as "createsTables"`;
  const foreign = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = to_regnamespace('public') and relname = any(string_to_array(${tableNames.join(",")}, ','))
      and relkind in ('r', 'p') and not pg_has_role(relowner, 'usage')
    order by relname`;
  const missingRights = [
    ...(server.createsSchemas ? [] : [`CREATE on the database ${server.database}`]),
    ...(server.createsTables ? [] : ["CREATE on the schema public"]),
    ...(foreign.length === 0 ? [] : [`ownership of ${tablesText(foreign.map(({ name }) => name))}`]),
  ];
  const isReadable = foreign.length === 0;
  return {
    version: server.version,
    isTooOld: server.number < oldestServer,
    isPooled: server.isPooled,
    role: server.role,
    isReadOnly: server.isReadOnly,
    missingRights,
    migrations: isReadable ? await countMigrations(sql) : { pending: 0, unknown: 0 },
    vaultCheck: isReadable && server.hasVaultCheck ? await findVaultCheck(db) : undefined,
  };
}

type ServerRow = {
  version: string;
  number: number;
  isPooled: boolean;
  role: string;
  database: string;
  hasVaultCheck: boolean;
  isReadOnly: boolean;
  createsSchemas: boolean;
  createsTables: boolean;
};

const tableNames = Object.values(schema).flatMap((table) => (is(table, PgTable) ? [getTableName(table)] : []));

function tablesText(names: readonly string[]): string {
  const [first = "", ...others] = names;
  return others.length === 0 ? `the table ${first}` : `the table ${first} and ${others.length} more`;
}
