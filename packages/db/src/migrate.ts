import { fileURLToPath } from "node:url";
import { systemClock } from "@svc/core";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import type postgres from "postgres";
import { isPoolerRefusal, openDriver, poolerText, sessionMark } from "./driver.ts";

/** Thrown by `migrateDatabase` if it must not change the database. The message gives the reason. */
export class MigrationRefusedError extends Error {
  override readonly name = "MigrationRefusedError";
}

/** Folder with the migrations of this version, which drizzle-kit makes from the schema. */
export const migrationsFolder = fileURLToPath(new URL("../migrations", import.meta.url));

/**
 * Migrates a database to the schema of this version. It works in one transaction and under a lock, so any number of nodes may call it at
 * the same time. Throws MigrationRefusedError without a change in three cases: the server is older than PostgreSQL 15, a connection pooler
 * drops the settings of sessions, or the database has a migration that `folder` lacks. `onWait`: called with a text for the operator if
 * the server does not answer within a second, or if another node migrates the database.
 */
export async function migrateDatabase(
  url: string,
  folder: string = migrationsFolder,
  onWait: (text: string) => void = () => {},
): Promise<void> {
  const known = readMigrationFiles({ migrationsFolder: folder });
  const sql = openDriver(url, {
    max: 1,
    connect_timeout: 10,
    // Seconds between two attempts. The driver's own waits grow to 20 seconds, and the operator would learn of a fault only after them.
    backoff: (attempt: number) => Math.min(0.02 * 2 ** attempt, 1),
    onnotice: () => {},
    connection: { application_name: "svc", ...sessionMark },
  });
  try {
    await withinTime(assertServer(sql), onWait);
    // The lock belongs to the session, so it ends with the connection. If a node dies during a migration, it does not block other nodes.
    const [tried] = await sql<[{ locked: boolean }]>`select pg_try_advisory_lock(${migrationLock}) as locked`;
    if (!tried.locked) {
      onWait("another svc migrates the database; waiting for its end. This start continues by itself.");
      await sql`select pg_advisory_lock(${migrationLock})`;
    }
    await assertNotNewer(sql, known);
    await migrate(drizzle(sql), { migrationsFolder: folder });
    await assertComplete(sql, known);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

// Number of the lock: "svc" in ASCII. It can be any number that svc uses for no other lock.
const migrationLock = 0x737663;

/** Times in milliseconds without an answer from PostgreSQL. After the first, svc reports that it waits. After the second, svc gives up. */
const [noticeMs, answerMs] = [1_000, 20_000];

/** Resolves to the result of the first statement on a server. Rejects with the code CONNECT_TIMEOUT if there is none within 20 seconds. */
async function withinTime<Result>(first: Promise<Result>, onWait: (text: string) => void): Promise<Result> {
  const ended = new AbortController();
  const late = (async () => {
    await systemClock.wait(noticeMs, ended.signal);
    if (!ended.signal.aborted)
      onWait(
        `the database accepts no connection yet; waiting up to ${answerMs / 1_000} s. Check that PostgreSQL runs at the address of SVC_DATABASE_URL, and that it is not starting or stopping.`,
      );
    await systemClock.wait(answerMs - noticeMs, ended.signal);
    if (ended.signal.aborted) return first;
    throw Object.assign(new Error(`the database did not answer within ${answerMs / 1_000} s`), {
      code: "CONNECT_TIMEOUT",
    });
  })();
  try {
    return await Promise.race([first, late]);
  } finally {
    ended.abort();
    late.catch(() => {});
  }
}

/** The oldest version of PostgreSQL that svc supports, as the number in `server_version_num` (150000 is version 15). */
export const oldestServer = 150_000;

/** Throws MigrationRefusedError if the server is too old, or if a pooler that drops settings is in front of it. */
async function assertServer(sql: postgres.Sql): Promise<void> {
  const [server] = await sql<[{ number: number; name: string; mark: string | null }]>`
    select current_setting('server_version_num')::int4 as number, current_setting('server_version') as name,
      current_setting('svc.session', true) as mark`.catch((error: unknown) => {
    throw isPoolerRefusal(error) ? new MigrationRefusedError(poolerText) : error;
  });
  if (server.mark !== sessionMark["svc.session"]) throw new MigrationRefusedError(poolerText);
  if (server.number >= oldestServer) return;
  throw new MigrationRefusedError(
    `SVC_DATABASE_URL: the server is PostgreSQL ${server.name}, and svc needs 15 or newer`,
  );
}

async function assertNotNewer(sql: postgres.Sql, known: readonly MigrationMeta[]): Promise<void> {
  const knownHashes = new Set(known.map(({ hash }) => hash));
  const unknown = (await appliedHashes(sql)).filter((hash) => !knownHashes.has(hash));
  if (unknown.length === 0) return;
  throw new MigrationRefusedError(
    `SVC_DATABASE_URL: the database has ${unknown.length} migration(s) that this version of svc does not know, ` +
      "so it was migrated by a newer version (or by an edited one); start that version, or restore an older database",
  );
}

/**
 * Throws MigrationRefusedError if the database lacks one of the known migrations. drizzle skips a migration whose date is before that of
 * the last applied migration. Such a migration can exist after two branches are merged.
 */
async function assertComplete(sql: postgres.Sql, known: readonly MigrationMeta[]): Promise<void> {
  const applied = new Set(await appliedHashes(sql));
  const missing = known.filter(({ hash }) => !applied.has(hash));
  if (missing.length === 0) return;
  const dates = missing.map(({ folderMillis }) => folderMillis).join(", ");
  throw new MigrationRefusedError(
    `migrations dated ${dates} are older than the database's last one: generate them again`,
  );
}

/**
 * The differences between a database and this version of svc. `pending`: number of migrations that are not applied yet. `unknown`: number of
 * applied migrations that this version does not have.
 */
export type MigrationCounts = { readonly pending: number; readonly unknown: number };

/** Returns the differences between the migrations of a database and those of this version of svc. It only reads. */
export async function countMigrations(sql: postgres.Sql): Promise<MigrationCounts> {
  const known = readMigrationFiles({ migrationsFolder }).map(({ hash }) => hash);
  const applied = await appliedHashes(sql);
  return {
    pending: known.filter((hash) => !applied.includes(hash)).length,
    unknown: applied.filter((hash) => !known.includes(hash)).length,
  };
}

async function appliedHashes(sql: postgres.Sql): Promise<string[]> {
  const [table] = await sql<
    [{ exists: boolean }]
  >`select to_regclass('drizzle.__drizzle_migrations') is not null as exists`;
  if (!table.exists) return [];
  const rows = await sql<{ hash: string }[]>`select hash from drizzle.__drizzle_migrations`;
  return rows.map(({ hash }) => hash);
}
