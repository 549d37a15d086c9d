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
import { anotherServiceRuns, serverFailed, waitText } from "./errors.ts";
import { embeddedRole, openStore, readPassword, unfinishedPrefix } from "./initialize.ts";
import { type ServerExit, type ServerProcess, spawnServer } from "./server-process.ts";

/** Durability of commits. `full`: commits survive a crash and a power failure. `none`: for tests; a crash may corrupt the data. */
type Durability = "full" | "none";

/** PostgreSQL settings by name. */
type ServerSettings = Readonly<Record<string, string>>;

/** The settings from which the command line of the embedded PostgreSQL server is made. */
type ServerArguments = {
  readonly cluster: string;
  readonly port: number;
  /** Folder of the server's Unix socket, which it uses in addition to loopback. Undefined if it uses no Unix socket. */
  readonly socketFolder: string | undefined;
  readonly durability: Durability;
  /** PostgreSQL settings that replace the service's own settings of the same name. */
  readonly settings: ServerSettings | undefined;
};

/** Returns the command-line arguments for starting PostgreSQL. The server accepts connections only from this machine. */
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
  // Maximum processes that send the write-ahead log to other servers: none, because the embedded server does not replicate.
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  // Compiling (JIT) costs more than it saves for short, repeated statements. For the same reason, no parallel workers are used.
  jit: "off",
  max_parallel_workers_per_gather: "0",
  // Reads without I/O workers. The data in use is in memory, so PostgreSQL 18's own I/O workers would be three idle processes.
  io_method: "sync",
  // Queue tables change quickly. With one minute between two vacuums, they would collect too many dead rows.
  autovacuum_naptime: "10s",
  // Does not log failed statements, because statements and details would contain values. svc reports the errors itself.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
};

const full = {
  // The write-ahead log must contain every change, because a backup copies the running server.
  wal_level: "replica",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "128MB",
  wal_buffers: "16MB",
  // A larger log allows fewer checkpoints, so that PostgreSQL writes fewer full pages to the log. After a crash, the recovery reads at most
  // about this much of the log.
  max_wal_size: "1GB",
  checkpoint_timeout: "15min",
  // The data is on a local disk, most likely flash, where a random read costs little.
  random_page_cost: "1.1",
};

const none = {
  wal_level: "minimal",
  // Several test files run at the same time. Each uses several nodes, and each node has its own pools.
  max_connections: "300",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  shared_buffers: "64MB",
  autovacuum: "off",
};

/** Options of `startEmbeddedPostgres`. */
export type EmbeddedPostgresOptions = {
  /**
   * Data folder, created if it is missing. It contains `postgres/` (the data and the password file). Only one service may use the folder at
   * a time.
   */
  dataDir: string;
  /** Durability of the database. Use `none` only for data that may be lost; the server then also accepts connections without a password. */
  durability: Durability;
  /** Password of a new database. Default: 24 random bytes. */
  password?: string;
  /** Called with each line of the server's log. */
  onLog?: (line: string) => void;
  /** PostgreSQL settings by name, which replace the service's own settings (for example, for a server that replicates). */
  settings?: ServerSettings;
  /** Clock used to wait. Default: the machine's clock. */
  clock?: Clock;
  /** Called once, with a text for the operator, if the start waits until another svc process that uses the same data folder has ended. */
  onWait?: ((text: string) => void) | undefined;
};

/** A PostgreSQL server that runs as a child of this process. It ends when this process ends, even if this process is killed. */
export type EmbeddedPostgres = {
  /** URL of the server on loopback, including the password. */
  readonly url: string;
  /**
   * URL of the server through its Unix socket, for `openDatabase`. A small statement takes half the time of one through loopback. If the
   * path of the socket is too long, this is `url`.
   */
  readonly socketUrl: string;
  readonly dataDir: string;
  /** Resolves when the server has ended, because of `stop` or of a failure. */
  readonly exited: Promise<ServerExit>;
  /** Ends all sessions and shuts the server down cleanly. Resolves when the server has ended. A second call is allowed. */
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL on `dataDir`, on loopback and a free port. Resolves when PostgreSQL answers. If the server of a killed service still
 * runs, this waits up to 10 seconds for its end. Throws EmbeddedPostgresError if another service uses the folder, if the folder cannot be
 * entered, or if PostgreSQL cannot run on this machine.
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

/**
 * Returns the URL of the PostgreSQL server that runs on an embedded database; undefined if its lock file names no running server. Starts
 * nothing. Rejects with the code ENOENT if the database does not exist, and with EACCES if this account cannot read its password.
 */
export async function findRunningServer(store: DataFolder): Promise<string | undefined> {
  const password = await readPassword(store);
  const lock = await readLockFile(store.cluster);
  if (lock === undefined || !takesConnections(lock)) return undefined;
  return `postgres://${embeddedRole}:${password}@127.0.0.1:${lock.port}/postgres`;
}

type StartOptions = EmbeddedPostgresOptions & { account: Account; binaries: string; store: DataFolder };
type StartedServer = { server: ServerProcess; url: string; socketUrl: string };

/**
 * Starts the server as soon as the data is free, and returns it. PostgreSQL's lock file shows which service holds the data. If that service
 * is about to end, this waits for its end.
 */
async function startWhenFree(options: StartOptions): Promise<StartedServer> {
  const clock = options.clock ?? systemClock;
  const firstTryAt = clock.now();
  let isTold = false;
  for (;;) {
    const started = await tryStart(options, clock);
    if ("url" in started) return started;
    const isHeld = heldMessage.test(started.log);
    if (!isHeld && !portTakenMessage.test(started.log)) throw serverFailed("did not start", started.log);
    const lock = await readLockFile(options.store.cluster);
    const waitMs = lock !== undefined && takesConnections(lock) ? orphanedMs : stoppingMs;
    if (isHeld && !isTold) {
      isTold = true;
      options.onWait?.(waitText(options.dataDir, lock?.pid, waitMs));
    }
    if (clock.now() > firstTryAt + waitMs) {
      throw isHeld ? anotherServiceRuns(options.dataDir, lock?.pid) : serverFailed("found no free port", started.log);
    }
    await clock.wait(50);
  }
}

const heldMessage = /lock file "postmaster.pid" already exists|pre-existing shared memory block/;
const portTakenMessage = /could not bind|could not create any TCP\/IP sockets/;
// Maximum time in milliseconds to wait for the end of an earlier PostgreSQL server that still accepts connections. If svc was killed, its
// PostgreSQL server notices this within milliseconds (a pipe between them closes), and then needs some time to shut down.
const orphanedMs = 3_000;
const stoppingMs = 15_000;
// Milliseconds that a started server has to become ready. After a crash, the server first replays its log, which takes longer.
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

/** Maximum length of a socket's path in bytes, including the final zero. All supported systems accept this length. */
const socketPathMax = 104;

/** Returns the folder for the socket of the database server; undefined if the path of the socket would be too long. */
function socketFolderOf({ cluster }: DataFolder, port: number): string | undefined {
  if (process.platform === "win32" || cluster.includes(",")) return undefined;
  // Only root and the account that runs the server can enter the cluster's folder.
  return Buffer.byteLength(socketPath(cluster, port)) < socketPathMax ? cluster : undefined;
}

/** Resolves when the lock file shows that the server accepts connections, or when `ended` aborts because the server has ended. */
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

/**
 * Removes the files and folders that interrupted starts left. Call it only while this service's server runs: then no other process works in
 * this folder.
 */
async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(unfinishedPrefix)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
}
