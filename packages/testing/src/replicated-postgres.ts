import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@svc/db/connect";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { createTestDataDir } from "./data-dir.ts";
import { createStoredDataDir } from "./stored-data-dir.ts";
import { until } from "./until.ts";

/** Two PostgreSQL servers, a primary and a standby. A commit is confirmed to the client only after the standby has it as well. */
export type ReplicatedPostgres = {
  readonly primary: EmbeddedPostgres;
  readonly standby: EmbeddedPostgres;
  /**
   * Returns a `postgres://…` URL that lists both servers, `first` first. A client that uses it connects to the server that accepts writes.
   */
  url(first: "primary" | "standby"): string;
  /** Kills the primary with all its sessions, as if the machine were lost. */
  killPrimary(): Promise<void>;
  /** Makes the standby the primary; resolves when it accepts writes. */
  promoteStandby(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts two PostgreSQL servers with synchronous replication. The embedded binaries lack pg_basebackup, so the standby starts from a copy
 * of the stopped primary's folder.
 */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const [primaryDir, standbyDir] = [await createStoredDataDir(), await createTestDataDir()];
  await (await startEmbeddedPostgres({ dataDir: primaryDir, durability: "full", settings: replicating })).stop();
  // If root runs the tests, PostgreSQL runs as another user. That user must stay the owner of the files, so `cp -a` keeps the owner.
  await promisify(execFile)("cp", ["-a", join(primaryDir, "postgres"), standbyDir]);
  const cluster = join(standbyDir, "postgres", "data");
  await writeFile(join(cluster, "standby.signal"), "");
  const primary = await startEmbeddedPostgres({
    dataDir: primaryDir,
    durability: "full",
    settings: { ...replicating, synchronous_standby_names: "*" },
  });
  const { hostname, port, username, password } = new URL(primary.url);
  const standby = await startEmbeddedPostgres({
    dataDir: standbyDir,
    durability: "full",
    settings: {
      ...replicating,
      primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}`,
    },
  });
  await untilSynchronous(primary.url);
  return {
    primary,
    standby,
    url: (first) => listing(first === "primary" ? [primary.url, standby.url] : [standby.url, primary.url]),
    async killPrimary() {
      const [pid] = (await readFile(join(primaryDir, "postgres", "data", "postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGKILL");
      await primary.exited;
    },
    promoteStandby: () => promote(standby.url),
    async stop() {
      await Promise.all([primary.stop(), standby.stop()]);
      for (const dir of [primaryDir, standbyDir]) await rm(dir, { recursive: true, force: true });
    },
  };
}

const replicating = { wal_level: "replica", max_wal_senders: "4" };

async function untilSynchronous(url: string): Promise<void> {
  const db = openDatabase({ url, connectionsMax: 1 });
  await until(async () => {
    const rows = await db.sql`select 1 from pg_stat_replication where sync_state = 'sync' and state = 'streaming'`;
    return rows.length === 1;
  });
  await db.close();
}

async function promote(url: string): Promise<void> {
  const db = openDatabase({ url, connectionsMax: 1 });
  await db.sql`select pg_promote(wait => true)`;
  await db.close();
}

/** Returns one address for several servers, in the form that libpq and the PostgreSQL driver accept. */
function listing(urls: readonly string[]): string {
  const [first = ""] = urls;
  const hosts = urls.map((url) => new URL(url).host).join(",");
  return first.replace(new URL(first).host, hosts).concat("?target_session_attrs=read-write");
}
