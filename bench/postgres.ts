import { readFileSync } from "node:fs";
import { databaseUrl, startTestPostgres } from "@svc/testing/database";
import postgres from "postgres";
import { parentOf } from "./cpu.ts";

/** The PostgreSQL every variant of a run uses, each with a database of its own. */
export type BenchPostgres = {
  /** Where it comes from. */
  readonly origin: string;
  /** Version and the settings that decide durability and speed, as the server reports them. */
  readonly settings: ReadonlyMap<string, string>;
  /** Process id of the postmaster; undefined when it does not run on this machine. */
  readonly postmasterPid: number | undefined;
  /** Makes a database, empty or a copy of `template`, which nobody may be connected to. */
  createDatabase(name: string, template?: string): Promise<BenchDatabase>;
  stop(): Promise<void>;
};

/** A database of one run's own. */
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
 * Connects to the server of BENCH_DATABASE_URL (a role that may create databases), or starts one with the binaries and
 * the settings of the server's own store: fsync on. Every variant uses the same server.
 */
export async function openBenchPostgres(): Promise<BenchPostgres> {
  const given = process.env["BENCH_DATABASE_URL"];
  const own = given === undefined ? await startTestPostgres({ durability: "full" }) : undefined;
  const serverUrl = own?.url ?? given ?? "";
  const sql = postgres(serverUrl, { max: 1, onnotice: () => {} });
  const drop = async (name: string) => {
    await sql`drop database if exists ${sql(name)} with (force)`;
  };
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
    stop: async () => {
      await sql.end();
      await own?.stop();
    },
  };
}

async function readSettings(sql: postgres.Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ name: string; value: string }[]>`
    select name, current_setting(name) as value from unnest(${shownSettings}::text[]) as name`;
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Our session's server process is a child of the postmaster, where both are on this machine. */
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
