import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { databaseUrl, startTestPostgres, type TestPostgres } from "@svc/testing/database";
import postgres from "postgres";
import { parentOf } from "./cpu.ts";

/** The PostgreSQL that every variant of a run uses, each with a database of its own. */
export type BenchPostgres = {
  /** Text for the report about where the PostgreSQL comes from. */
  readonly origin: string;
  /** Version and the settings that decide durability and speed, as the server reports them. */
  readonly settings: ReadonlyMap<string, string>;
  /** Process id of PostgreSQL's main process. Undefined if it does not run on this machine. */
  readonly postmasterPid: number | undefined;
  /** Creates a database, either empty or as a copy of `template`, to which nobody may be connected. */
  createDatabase(name: string, template?: string): Promise<BenchDatabase>;
  /**
   * Runs `use` without waiting for disk writes, and then writes everything to the disk. A PostgreSQL given by the user keeps its settings.
   */
  withoutFsync(use: () => Promise<void>): Promise<void>;
  /** Returns the amount that all databases have written so far. */
  readWritten(): Promise<Written>;
  /** Returns the statements of a database that took the most time since the last call, a line each. Needs `isStatementsKept`. */
  takeStatements(database: string): Promise<readonly string[]>;
  /** Returns the number of a database's statements since the last `takeStatements`. Needs `isStatementsKept`. */
  countStatements(database: string): Promise<number>;
  stop(): Promise<void>;
};

/** Data written by a PostgreSQL: transactions, bytes of its log, and how often the log was flushed to the disk. */
export type Written = { readonly commits: number; readonly walBytes: number; readonly fsyncs: number };

/** A database of one run. */
export type BenchDatabase = {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
};

const shownSettings = [
  "server_version",
  "fsync",
  "synchronous_commit",
  "full_page_writes",
  "wal_sync_method",
  "shared_buffers",
  "max_wal_size",
  "max_connections",
];

/**
 * Connects to the PostgreSQL in BENCH_DATABASE_URL, with a role that may create databases. Without that variable, starts one with the
 * binaries and settings of the server's own store, including fsync. Every variant uses the same PostgreSQL. `isStatementsKept`: uses
 * pg_stat_statements, which a given PostgreSQL must have loaded already.
 */
export async function openBenchPostgres(isStatementsKept: boolean): Promise<BenchPostgres> {
  const given = process.env["BENCH_DATABASE_URL"];
  const own = given === undefined ? await startOwn(isStatementsKept) : undefined;
  const serverUrl = own?.url ?? given ?? "";
  const sql = postgres(serverUrl, { max: 1, onnotice: () => {} });
  const drop = async (name: string) => {
    await sql`drop database if exists ${sql(name)} with (force)`;
  };
  if (isStatementsKept) await sql`create extension if not exists pg_stat_statements`;
  return {
    origin:
      own === undefined ? "BENCH_DATABASE_URL" : "started for this run from the binaries of the service's own store",
    settings: await readSettings(sql),
    postmasterPid: await findPostmaster(sql),
    createDatabase: async (name, template = "template1") => {
      await drop(name);
      await sql`create database ${sql(name)} template ${sql(template)}`;
      return { name, url: databaseUrl(serverUrl, name), drop: () => drop(name) };
    },
    withoutFsync: (use) => (own === undefined ? use() : withoutFsync(sql, use)),
    readWritten: () => readWritten(sql),
    takeStatements: (database) => takeStatements(sql, database),
    countStatements: async (database) => {
      const [row] = await sql<{ calls: number }[]>`select coalesce(sum(s.calls), 0)::float8 as calls
        from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = ${database}`;
      return row?.calls ?? 0;
    },
    stop: async () => {
      await sql.end();
      await own?.stop();
    },
  };
}

/**
 * Starts a PostgreSQL for the run. With `isStatementsKept` it is restarted once, because the library of pg_stat_statements is loaded at a
 * start.
 */
async function startOwn(isStatementsKept: boolean): Promise<TestPostgres> {
  const server = await startTestPostgres({ durability: "full" });
  if (!isStatementsKept) return server;
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  await sql`alter system set shared_preload_libraries = 'pg_stat_statements'`;
  await sql.end();
  return server.restart();
}

/** Settings that make filling fast. After a crash the database is lost, which does not matter here. */
const hasty = { fsync: "off", full_page_writes: "off", max_wal_size: "8GB" };

async function withoutFsync(sql: postgres.Sql, use: () => Promise<void>): Promise<void> {
  for (const [name, value] of Object.entries(hasty)) await sql.unsafe(`alter system set ${name} = '${value}'`);
  await sql`select pg_reload_conf()`;
  try {
    await use();
  } finally {
    for (const name of Object.keys(hasty)) await sql.unsafe(`alter system reset ${name}`);
    await sql`select pg_reload_conf()`;
    // The operating system still has the data in memory, and writing it later would affect the measurement.
    await promisify(execFile)("sync");
    await sql`checkpoint`;
  }
}

/** Reads the amount written so far. The log's length is exact, but other counts reach the statistics views up to a second late. */
async function readWritten(sql: postgres.Sql): Promise<Written> {
  const [row] = await sql<Record<keyof Written, string>[]>`
    select (select sum(xact_commit) from pg_stat_database) as commits,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as "walBytes",
      (select sum(fsyncs) from pg_stat_io where object = 'wal') as fsyncs`;
  return { commits: Number(row?.commits), walBytes: Number(row?.walBytes), fsyncs: Number(row?.fsyncs) };
}

const shownStatements = 15;

async function takeStatements(sql: postgres.Sql, database: string): Promise<readonly string[]> {
  const rows = await sql<{ ms: number; calls: number; each: number; rows: number; wal: number; query: string }[]>`
    select s.total_exec_time as ms, s.calls::float8 as calls, s.mean_exec_time * 1000 as each, s.rows::float8 as rows,
      s.wal_bytes::float8 as wal, regexp_replace(s.query, '\\s+', ' ', 'g') as query
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where d.datname = ${database} order by s.total_exec_time desc limit ${shownStatements}`;
  await sql`select pg_stat_statements_reset()`;
  return rows.map(
    ({ ms, calls, each, rows: count, wal, query }) =>
      `${ms.toFixed(0).padStart(8)} ms ${calls.toFixed(0).padStart(9)} x ${each.toFixed(0).padStart(7)} us ` +
      `${count.toFixed(0).padStart(9)} rows ${(wal / 1024).toFixed(0).padStart(9)} KB WAL  ${query.slice(0, 110)}`,
  );
}

async function readSettings(sql: postgres.Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ name: string; value: string }[]>`
    select name, current_setting(name) as value from unnest(${shownSettings}::text[]) as name`;
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Finds PostgreSQL's main process, which is the parent of the process that serves our session. Undefined if it runs on another machine. */
async function findPostmaster(sql: postgres.Sql): Promise<number | undefined> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const pid = row && parentOf(row.pid);
  if (pid === undefined) return undefined;
  try {
    return readFileSync(`/proc/${pid}/comm`, "latin1").startsWith("postgres") ? pid : undefined;
  } catch {
    return undefined;
  }
}
