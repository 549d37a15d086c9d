import postgres from "postgres";
import { serverTooOld } from "./errors.ts";

type FinishedBackup = { label: string; first: string; last: string; endsAt: string };

/** A backup that PostgreSQL knows of: while it is open, everything that changes goes to its log, and none of that log is removed. */
export type BackupSession = {
  /** Bytes of all databases. */
  readonly totalBytes: number;
  /** Major version of the server. */
  readonly postgres: string;
  /**
   * Everything that was committed before `endsAt`, RFC 3339 by the server's clock, is in the segments `first` to `last` of the log;
   * `label` belongs beside the copied files.
   */
  finish(): Promise<FinishedBackup>;
  /** Ends the session: a backup that was not finished is none. */
  close(): Promise<void>;
};

/** Begins a backup of the server at `url`: a checkpoint first, at full speed. Throws BackupError where the server cannot be backed up. */
export async function beginBackup(url: string): Promise<BackupSession> {
  // All of it is of one session: what is held ends with it, however that ends.
  const sql = postgres(url, { max: 1, idle_timeout: 0, max_lifetime: null, fetch_types: false, onnotice: () => {} });
  try {
    const [server] =
      await sql`select current_setting('wal_level') as level, current_setting('server_version_num')::int4 / 10000 as major,
      (select sum(pg_database_size(oid)) from pg_database)::float8 as bytes`;
    if (server?.["level"] === "minimal") throw serverTooOld();
    await sql`select pg_create_physical_replication_slot(${`svc_backup_${process.pid}`}, true, true)`;
    await sql`select pg_backup_start('svc', true)`;
    return {
      totalBytes: server?.["bytes"],
      postgres: String(server?.["major"]),
      finish: () => finishBackup(sql),
      close: () => sql.end({ timeout: 5 }),
    };
  } catch (error) {
    await sql.end({ timeout: 5 });
    throw error;
  }
}

async function finishBackup(sql: postgres.Sql): Promise<FinishedBackup> {
  const [now] =
    await sql`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as time`;
  const [stopped] = await sql`select labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(false)`;
  const label: string = stopped?.["label"] ?? "";
  const [, first] = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)$/m.exec(label) ?? [];
  if (first === undefined) throw new Error(`PostgreSQL's backup label names no segment: ${label}`);
  return { label, first, last: stopped?.["last"], endsAt: now?.["time"] };
}
