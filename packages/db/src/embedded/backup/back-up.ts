import { createWriteStream, existsSync } from "node:fs";
import { link, open, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import type { VaultKey } from "@svc/core";
import postgres from "postgres";
import { type Pack, pack } from "tar-stream";
import { type DataFolder, dataFolderAt } from "../data-folder.ts";
import { findRunningServer, startEmbeddedPostgres } from "../postgres.ts";
import { fileExists, noStore, serverTooOld, storeUnreadable } from "./errors.ts";
import { type ArchiveWriter, type BackupManifest, endEntry, manifestEntry } from "./files.ts";
import { findForeignObjects } from "./foreign-objects.ts";
import { addSeal } from "./seal.ts";

/** A folder or file of a cluster (PostgreSQL's data directory). `path` is relative to the cluster. */
type ClusterPath = { readonly path: string; readonly isFolder: boolean };

/** Folders that the main pass of a backup leaves empty. PostgreSQL fills them again, except `pg_wal`, which the backup copies last. */
const emptied = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);

/** Files of the database that the main pass of a backup leaves out. pg_control is copied last. The others are not needed for a restore. */
const skipped =
  /^(?:[\w.-]+\.(?:conf|signal)|postmaster\.(?:pid|opts)|backup_label|tablespace_map|global\/pg_control|current_logfiles.*|\.s\.PGSQL\..*)$|(?:^|\/)(?:pgsql_tmp|pg_internal\.init)/;

const zeros = Buffer.alloc(65_536);

/** Options of `backUpStore`. */
export type BackupOptions = {
  /** Data folder of the service. The backup copies its embedded database. */
  readonly dataDir: string;
  /** Path of the backup file. It must not exist. svc writes the file completely or not at all. */
  readonly file: string;
  /** Version of the service that makes the backup. */
  readonly version: string;
  /** Vault key with which the backup file is authenticated, so that a restore detects a file that was changed. */
  readonly key: VaultKey;
  /** Called with the number of bytes read and the approximate total number of bytes. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
  /** Signal that stops the backup. The backup then removes its files. */
  readonly signal?: AbortSignal;
};

/** Result of a backup. The backup contains everything committed before `endsAt`. */
export type Backup = {
  readonly readBytes: number;
  readonly endsAt: string;
  /** Objects that the database would run and that svc did not create. A restore refuses a backup that contains such objects. */
  readonly foreign: readonly string[];
};

/**
 * Copies the embedded database into one file and returns the result. The service may be running. The file contains neither the vault key
 * nor the first API key. Throws BackupError.
 */
export async function backUpStore(options: BackupOptions): Promise<Backup> {
  if (existsSync(options.file)) throw fileExists(options.file);
  const store = dataFolderAt(join(resolve(options.dataDir), "postgres"));
  await using running = await openServer(options.dataDir, store);
  const unfinished = `${options.file}.${process.pid}.part`;
  const output = createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true });
  const { archive, written } = writeArchive(output, options.key, options.signal);
  try {
    // If one of the two promises fails, the other fails too, so nothing is left running.
    const [backup] = await Promise.all([fill(archive, store, running.url, options), written]);
    await publish(unfinished, options.file);
    return backup;
  } catch (error) {
    // After an abort, this reports the abort and not the error that the abort caused.
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
}

/**
 * Returns the URL of a server of the embedded database: the running service's server, or a server that this function starts if the service
 * does not run.
 */
async function openServer(dataDir: string, store: DataFolder): Promise<AsyncDisposable & { url: string }> {
  const running = await findRunningServer(store).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? noStore(dataDir) : storeUnreadable(dataDir, error.code ?? "");
  });
  if (running !== undefined) return { url: running, [Symbol.asyncDispose]: async () => {} };
  const { url, stop } = await startEmbeddedPostgres({ dataDir, durability: "full" });
  return { url, [Symbol.asyncDispose]: stop };
}

async function fill(archive: ArchiveWriter, store: DataFolder, url: string, options: BackupOptions): Promise<Backup> {
  const session = await beginBackup(url);
  try {
    const done = { bytes: 0 };
    await addJson(archive, manifestEntry, manifestOf(session, options.version));
    const add = async (name: string, file: string) => {
      options.signal?.throwIfAborted();
      done.bytes += await addFile(archive, name, file);
      options.onProgress?.(done.bytes, Math.max(session.totalBytes, done.bytes));
    };
    for await (const { path, isFolder } of clusterPaths(store.cluster)) {
      if (isFolder) await archive.addFolder(`data/${path}`);
      else await add(`data/${path}`, join(store.cluster, path));
    }
    await add("data/global/pg_control", join(store.cluster, "global/pg_control"));
    const { label, first, last, endsAt } = await session.finish();
    await addText(archive, "data/backup_label", label);
    for (const name of await logSegments(store.cluster, first, last)) {
      await add(`data/pg_wal/${name}`, join(store.cluster, "pg_wal", name));
    }
    await add("password", store.passwordFile);
    const backup: Backup = { readBytes: done.bytes, endsAt, foreign: await findForeignObjects(url) };
    await addJson(archive, endEntry, backup);
    archive.end();
    return backup;
  } finally {
    await session.close();
  }
}

function manifestOf({ postgres }: BackupSession, version: string): BackupManifest {
  const machine = `${process.platform}-${process.arch}`;
  return { format: 1, version, postgres, machine };
}

/** Adds a file to the archive and returns the file's size in bytes. */
async function addFile(archive: ArchiveWriter, name: string, file: string): Promise<number> {
  const content = await readWhole(file);
  if (content === undefined) return 0;
  await archive.addFile(name, content.size, content.chunks());
  return content.size;
}

function addJson(archive: ArchiveWriter, name: string, value: unknown): Promise<void> {
  return addText(archive, name, `${JSON.stringify(value)}\n`);
}

async function addText(archive: ArchiveWriter, name: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await archive.addFile(name, bytes.length, [bytes]);
}

/**
 * Gives the complete backup file, which svc wrote under a temporary name, its final name. Throws BackupError if another file has got the
 * final name in the meantime.
 */
async function publish(unfinished: string, file: string): Promise<void> {
  await link(unfinished, file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? fileExists(file) : error;
  });
  await using folder = await open(dirname(resolve(file)), "r");
  await folder.sync();
}

type FinishedBackup = { label: string; first: string; last: string; endsAt: string };

/**
 * A backup session of PostgreSQL. While the session is open, PostgreSQL writes all changes to the write-ahead log and keeps all of the log.
 */
type BackupSession = {
  /** Total size of all databases, in bytes. */
  readonly totalBytes: number;
  /** Major version of the server, such as `18`. */
  readonly postgres: string;
  /**
   * Ends the backup and returns the values that complete it. `endsAt`: everything committed before this time (RFC 3339, the server's clock)
   * is in the backup. `first` and `last`: the first and last segment of the write-ahead log to copy. `label`: a text that must be stored
   * with the copied files.
   */
  finish(): Promise<FinishedBackup>;
  /** Ends the database session of the backup. Call `finish` first; otherwise the backup is invalid. */
  close(): Promise<void>;
};

/**
 * Begins a backup of the server at `url` with an immediate checkpoint, and returns its session. Throws BackupError if the server cannot be
 * backed up.
 */
async function beginBackup(url: string): Promise<BackupSession> {
  // All statements use one session. When the session ends, PostgreSQL releases everything it holds.
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

/**
 * Returns a writer of a tar archive. The archive goes to `output`, compressed with zstd, with a checksum and a seal under `key`. `written`
 * resolves when the archive is complete.
 */
function writeArchive(
  output: NodeJS.WritableStream,
  key: VaultKey,
  signal: AbortSignal | undefined,
): { archive: ArchiveWriter; written: Promise<void> } {
  const archive = pack();
  const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
  const options = signal === undefined ? {} : { signal };
  const written = pipeline(Readable.from(archive), createZstdCompress({ params }), addSeal(key), output, options);
  const writer = {
    addFolder: (name: string) => addEntry(archive, { name, type: "directory", mode: 0o700 }, []),
    addFile: (name: string, size: number, chunks: AsyncIterable<Buffer> | Iterable<Buffer>) =>
      addEntry(archive, { name, size, mode: 0o600 }, exactly(size, chunks)),
    end: () => archive.finalize(),
  };
  return { archive: writer, written };
}

async function addEntry(
  archive: Pack,
  header: Parameters<Pack["entry"]>[0],
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const entry = archive.entry(header, (error) => (error ? reject(error) : resolve()));
  if (header.type !== "directory") await pipeline(Readable.from(chunks), entry);
  await promise;
}

/**
 * Yields exactly `size` bytes: cuts a longer file, and fills a shorter one with zeros. A running server may change a file's length while
 * the backup reads it. After a restore, the replay of the write-ahead log repairs the file.
 */
async function* exactly(size: number, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let left = size;
  for await (const chunk of chunks) {
    if (left === 0) break;
    const part = chunk.length > left ? chunk.subarray(0, left) : chunk;
    left -= part.length;
    yield part;
  }
  for (; left > 0; left -= Math.min(left, zeros.length)) yield zeros.subarray(0, Math.min(left, zeros.length));
}

/** Returns the names of the log segments from `first` to `last`, in order. */
async function logSegments(cluster: string, first: string, last: string): Promise<string[]> {
  const names = await readdir(join(cluster, "pg_wal"));
  return names.filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last).sort();
}

/**
 * Yields the paths that a backup of a running cluster copies, each folder before its content. Leaves out the write-ahead log, and all files
 * that PostgreSQL or the restore creates again.
 */
async function* clusterPaths(cluster: string, below = ""): AsyncGenerator<ClusterPath> {
  for (const entry of await readdir(join(cluster, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (skipped.test(path)) continue;
    if (entry.isFile()) yield { path, isFolder: false };
    if (!entry.isDirectory()) continue;
    yield { path, isFolder: true };
    if (!emptied.has(path)) yield* clusterPaths(cluster, path);
  }
}

/**
 * Returns the size and the content of a database file for the backup. Returns undefined if the database removed the file in the meantime.
 * This loses nothing, because the write-ahead log in the backup also contains the removal.
 */
async function readWhole(file: string): Promise<{ size: number; chunks: () => AsyncGenerator<Buffer> } | undefined> {
  const handle = await open(file, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  const { size } = await handle.stat();
  return {
    size,
    async *chunks() {
      await using _ = handle;
      for (let at = 0; at < size; ) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(262_144), 0, 262_144, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
  };
}
