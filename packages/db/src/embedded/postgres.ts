import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "@svc/core";
import postgres from "postgres";
import { socketPath } from "../driver.ts";
import { installedBinaries, runnableBinaries } from "./binaries.ts";
import {
  type Account,
  type DataFolder,
  isReusedPid,
  prepareDataDir,
  readLockFile,
  takesConnections,
} from "./data-folder.ts";
import { anotherServiceRuns, serverFailed } from "./errors.ts";
import { embeddedRole, openStore, readPassword, unfinishedPrefix } from "./initialize.ts";
import { type ServerExit, type ServerProcess, spawnServer } from "./server-process.ts";

/** `full`: what was committed survives a crash and a power failure. `none`: for tests; a crash may corrupt the data. */
type Durability = "full" | "none";

/** Settings of PostgreSQL by their names. */
type ServerSettings = Readonly<Record<string, string>>;

/** What `serverArguments` makes a command line of. */
type ServerArguments = {
  readonly cluster: string;
  readonly port: number;
  /** Where it makes its Unix socket, beside loopback; undefined: nowhere. */
  readonly socketFolder: string | undefined;
  readonly durability: Durability;
  /** Over those of the service. */
  readonly settings: ServerSettings | undefined;
};

/** The command line of a server on `cluster` that listens on this machine only. */
function serverArguments(server: ServerArguments): string[] {
  const { cluster, port, durability, socketFolder = "", settings: given } = server;
  const own = { port: String(port), unix_socket_directories: socketFolder };
  const settings = { ...common, ...(durability === "full" ? full : none), ...given, ...own };
  return ["-D", cluster, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

const common = {
  listen_addresses: "127.0.0.1",
  max_connections: "100",
  timezone: "UTC",
  log_timezone: "UTC",
  // Nothing here replicates.
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  // Statements are short and repeated: compiling them costs more than it saves, and workers more than they bring.
  jit: "off",
  max_parallel_workers_per_gather: "0",
  // The working set is in memory; PostgreSQL 18's own I/O workers would be three idle processes.
  io_method: "sync",
  // Queue tables change quickly: a minute between looks lets dead rows pile up.
  autovacuum_naptime: "10s",
  // Errors are the client's to report; their statements and details hold values.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
};

const full = {
  // A backup is taken while the server runs: everything is in its log.
  wal_level: "replica",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "128MB",
  wal_buffers: "16MB",
  // Fewer checkpoints, fewer full pages in the log; recovery reads at most about this much.
  max_wal_size: "1GB",
  checkpoint_timeout: "15min",
  // The data are on a disk of this machine, most likely flash.
  random_page_cost: "1.1",
};

const none = {
  wal_level: "minimal",
  // Several test files run at once, each with the pools of several nodes.
  max_connections: "300",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  shared_buffers: "64MB",
  autovacuum: "off",
};

/** Options of `startEmbeddedPostgres`. */
export type EmbeddedPostgresOptions = {
  /** Made when missing. Holds `postgres/` (the data and, beside them, the password) and belongs to one service at a time. */
  dataDir: string;
  /** `none` only for data that may be lost: it also asks for no password. */
  durability: Durability;
  /** Of a new store. Default: 24 random bytes. */
  password?: string;
  /** Receives each line of the server's log. */
  onLog?: (line: string) => void;
  /** PostgreSQL's settings by name, over those of the service: for a server that replicates. */
  settings?: ServerSettings;
  /** Default: the machine's clock. */
  clock?: Clock;
};

/** A PostgreSQL that runs as a child of this process and ends with it, however it ends. */
export type EmbeddedPostgres = {
  /** Holds the password. */
  readonly url: string;
  /** The same by its Unix socket, for `openDatabase`: half of the time of a small statement. By loopback where its path is too long. */
  readonly socketUrl: string;
  readonly dataDir: string;
  /** Resolves when the server has ended: after `stop`, or because it failed. */
  readonly exited: Promise<ServerExit>;
  /** Ends sessions, shuts down cleanly and resolves when it has. May be called again. */
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL on `dataDir`, on loopback and a free port, and resolves when it answers. Waits up to 10 seconds for a
 * server of a killed service to finish. Throws EmbeddedPostgresError when another service uses the folder, when it
 * cannot be entered, or when PostgreSQL cannot run here.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, account } = await prepareDataDir(resolve(options.dataDir));
  const binaries = await runnableBinaries(installedBinaries(), dataDir, account);
  const durable = options.durability === "full";
  const store = await openStore({ dataDir, binaries, account, durable, password: options.password });
  const { server, url, socketUrl } = await startWhenFree({ ...options, dataDir, account, binaries, store });
  await removeUnfinished(dataDir);
  return { url, socketUrl, dataDir, exited: server.exited, stop: async () => void (await server.stop()) };
}

type StartOptions = EmbeddedPostgresOptions & { account: Account; binaries: string; store: DataFolder };
type StartedServer = { server: ServerProcess; url: string; socketUrl: string };

/** PostgreSQL's lock file decides whose the data are; a holder that is about to end is waited for. */
async function startWhenFree(options: StartOptions): Promise<StartedServer> {
  const clock = options.clock ?? systemClock;
  const firstTryAt = clock.now();
  for (;;) {
    const started = await tryStart(options, clock);
    if ("url" in started) return started;
    const isHeld = heldMessage.test(started.log);
    if (!isHeld && !portTakenMessage.test(started.log)) throw serverFailed("did not start", started.log);
    const lock = await readLockFile(options.store.cluster);
    const waitMs = lock !== undefined && takesConnections(lock) ? orphanedMs : stoppingMs;
    if (clock.now() > firstTryAt + waitMs) {
      throw isHeld ? anotherServiceRuns(options.dataDir, lock?.pid) : serverFailed("found no free port", started.log);
    }
    await clock.wait(50);
  }
}

const heldMessage = /lock file "postmaster.pid" already exists|pre-existing shared memory block/;
const portTakenMessage = /could not bind|could not create any TCP\/IP sockets/;
// A server whose service was killed is told so by its pipe within milliseconds, then needs a moment to shut down.
const orphanedMs = 3_000;
const stoppingMs = 15_000;
// After a crash it first replays its log.
const readyMs = 120_000;

async function tryStart(options: StartOptions, clock: Clock): Promise<StartedServer | ServerExit> {
  const { store, durability } = options;
  const port = await freePort();
  const lock = await readLockFile(store.cluster);
  const socketFolder = socketFolderOf(store, port);
  const server = spawnServer({
    file: join(options.binaries, "bin", "postgres"),
    args: serverArguments({ cluster: store.cluster, port, durability, socketFolder, settings: options.settings }),
    account: options.account,
    ignoredPid: lock !== undefined && (await isReusedPid(lock, store.cluster)) ? lock.pid : process.pid,
    onLog: options.onLog ?? (() => {}),
  });
  const url = `postgres://${embeddedRole}:${await readPassword(store)}@127.0.0.1:${port}/postgres`;
  const ended = new AbortController();
  const exit = server.exited.finally(() => ended.abort());
  try {
    await untilReady(store.cluster, port, clock, ended.signal);
    if (!ended.signal.aborted) await assertAnswers(url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const socketUrl = socketFolder === undefined ? url : `${url}?host=${encodeURIComponent(socketFolder)}`;
  return ended.signal.aborted ? await exit : { server, url, socketUrl };
}

/** Bytes that the path of a socket may have on every system that the binaries run on, with the zero at its end. */
const socketPathMax = 104;

/** The cluster's own folder, which nobody but its account and root may enter; undefined where the socket's path is too long. */
function socketFolderOf({ cluster }: DataFolder, port: number): string | undefined {
  if (process.platform === "win32" || cluster.includes(",")) return undefined;
  return Buffer.byteLength(socketPath(cluster, port)) < socketPathMax ? cluster : undefined;
}

/** Resolves when the server says in its lock file that it takes connections, or when `ended` aborts. */
async function untilReady(cluster: string, port: number, clock: Clock, ended: AbortSignal): Promise<void> {
  const giveUpAt = clock.now() + readyMs;
  while (!ended.aborted) {
    const lock = await readLockFile(cluster);
    if (lock?.port === port && takesConnections(lock)) return;
    if (clock.now() > giveUpAt)
      throw serverFailed("did not become ready", `after ${readyMs / 1000} s: ${lock?.status}`);
    await clock.wait(5, ended);
  }
}

async function assertAnswers(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 10, fetch_types: false, onnotice: () => {} });
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return address.port;
}

/** Removes what interrupted starts left. Call it only while this service's server runs: then nobody else is at work here. */
async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(unfinishedPrefix)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
}
