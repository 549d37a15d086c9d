import { createWriteStream, existsSync } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { VaultKey } from "@svc/core";
import { type DataFolder, dataFolderAt } from "../data-folder.ts";
import { embeddedRole, readPassword } from "../initialize.ts";
import { readLockFile, takesConnections } from "../lock-file.ts";
import { startEmbeddedPostgres } from "../postgres.ts";
import { type ArchiveWriter, type BackupManifest, endEntry, manifestEntry, writeArchive } from "./archive.ts";
import { fileExists, noStore, storeUnreadable } from "./errors.ts";
import { clusterPaths, logSegments, readWhole } from "./files.ts";
import { findForeign } from "./foreign.ts";
import { type BackupSession, beginBackup } from "./session.ts";

/** Options of `backUpStore`. */
export type BackupOptions = {
  /** Of the service whose embedded store is backed up. */
  readonly dataDir: string;
  /** Written whole, or not at all. It must not exist. */
  readonly file: string;
  /** Of this service. */
  readonly version: string;
  /** Seals the file, so that a restore knows what was changed since. */
  readonly key: VaultKey;
  /** Bytes read, and how many there are about. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
  /** Gives up, and leaves nothing behind. */
  readonly signal?: AbortSignal;
};

/** What was copied. All that was committed before `endsAt` is in it. */
export type Backup = {
  readonly readBytes: number;
  readonly endsAt: string;
  /** What the database would run and svc did not make: a restore refuses it. */
  readonly foreign: readonly string[];
};

/**
 * Copies the embedded store into one file, while its service runs or not: the vault key and the first key apart. Throws BackupError.
 */
export async function backUpStore(options: BackupOptions): Promise<Backup> {
  if (existsSync(options.file)) throw fileExists(options.file);
  const store = dataFolderAt(join(resolve(options.dataDir), "postgres"));
  await using running = await openServer(options.dataDir, store);
  const unfinished = `${options.file}.${process.pid}.part`;
  const output = createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true });
  const { archive, written } = writeArchive(output, options.key, options.signal);
  try {
    // Whichever fails ends the other.
    const [backup] = await Promise.all([fill(archive, store, running.url, options), written]);
    await publish(unfinished, options.file);
    return backup;
  } catch (error) {
    // Whatever broke when it was given up.
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** The server of the service that runs on the store, or one of this process's own. */
async function openServer(dataDir: string, store: DataFolder): Promise<AsyncDisposable & { url: string }> {
  const password = await readPassword(store).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? noStore(dataDir) : storeUnreadable(dataDir, error.code ?? "");
  });
  const lock = await readLockFile(store.cluster);
  if (lock !== undefined && takesConnections(lock)) {
    const url = `postgres://${embeddedRole}:${password}@127.0.0.1:${lock.port}/postgres`;
    return { url, [Symbol.asyncDispose]: async () => {} };
  }
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
    const backup: Backup = { readBytes: done.bytes, endsAt, foreign: await findForeign(url) };
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

/** Answers its bytes. */
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

/** Gives the file its name, which nobody has taken meanwhile. */
async function publish(unfinished: string, file: string): Promise<void> {
  await link(unfinished, file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? fileExists(file) : error;
  });
  await using folder = await open(dirname(resolve(file)), "r");
  await folder.sync();
}
