import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { generateToken } from "@svc/core";
import { extract, type Header } from "tar-stream";
import { dataFolderAt } from "../data-folder.ts";

/** Content of a file in the root of a restored database. It informs the first start about the restore. `id` is unique for each restore. */
type RestoreMarker = {
  readonly id: string;
  /** End of the backup, RFC 3339. The database contains everything committed before this time. */
  readonly endsAt: string;
};

const markerName = "restored.json";

/**
 * Writes a marker file into the folder `root` of a database that is being restored. The service that starts on it then sends nothing until
 * the operator resumes it.
 */
export async function writeRestoreMarker(root: string, endsAt: string): Promise<void> {
  const marker: RestoreMarker = { id: generateToken(), endsAt };
  await writeFile(join(root, markerName), `${JSON.stringify(marker)}\n`, { mode: 0o600, flag: "wx", flush: true });
}

/** Returns the restore marker of the database in a data folder. Undefined if the database was never restored. */
export async function readRestoreMarker(dataDir: string): Promise<RestoreMarker | undefined> {
  const { root } = dataFolderAt(join(dataDir, "postgres"));
  const text = await readFile(join(root, markerName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** Content of the first entry of a backup: all values that a restore needs. */
export type BackupManifest = {
  readonly format: 1;
  /** Version of the service that made the backup. */
  readonly version: string;
  /** Version of PostgreSQL. PostgreSQL's files fit only one major version and one kind of machine. */
  readonly postgres: string;
  readonly machine: string;
};

/** Name of the first entry of a backup. It identifies the file as a backup. */
export const manifestEntry = "svc-backup.json";
/** Name of the last entry of a backup. A backup without this entry is incomplete. */
export const endEntry = "svc-backup-end.json";

/** Writes the entries of a backup file, which is a tar archive. */
export type ArchiveWriter = {
  addFolder(name: string): Promise<void>;
  /**
   * Adds a file of exactly `size` bytes from `chunks`. If `chunks` has fewer bytes, zeros fill the file. If it has more, they are dropped.
   */
  addFile(name: string, size: number, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>;
  end(): void;
};

/**
 * Yields the entries of an archive in order. Read each entry completely before the next one. Throws an Error if the archive is damaged or
 * incomplete.
 */
export async function* readArchive(
  input: AsyncIterable<Buffer>,
): AsyncGenerator<{ header: Header; content: AsyncIterable<Buffer> }> {
  const entries = extract();
  const read = pipeline(input, createZstdDecompress(), entries);
  // Ignores an error of `read` here. The same error also stops the loop below, and the loop throws it.
  read.catch(() => {});
  for await (const entry of entries) yield { header: entry.header, content: entry as AsyncIterable<Buffer> };
  await read;
}
