import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { generateToken } from "@svc/core";
import { extract, type Header } from "tar-stream";
import { dataFolderAt } from "../data-folder.ts";

/** A file next to a restored database, which reports the restore to the first start. `id` is unique per restore. */
type RestoreMarker = {
  readonly id: string;
  /** End of the backup, RFC 3339: everything committed before it is in the database. */
  readonly endsAt: string;
};

const markerName = "restored.json";

/** Writes the marker into the root of a database that is being restored. */
export async function writeRestoreMarker(root: string, endsAt: string): Promise<void> {
  const marker: RestoreMarker = { id: generateToken(), endsAt };
  await writeFile(join(root, markerName), `${JSON.stringify(marker)}\n`, { mode: 0o600, flag: "wx", flush: true });
}

/** Returns the marker of the database in a data folder; undefined if it was never restored. */
export async function readRestoreMarker(dataDir: string): Promise<RestoreMarker | undefined> {
  const { root } = dataFolderAt(join(dataDir, "postgres"));
  const text = await readFile(join(root, markerName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** The first entry of a backup, with everything needed to restore it. */
export type BackupManifest = {
  readonly format: 1;
  /** Version of the service that took it. */
  readonly version: string;
  /** PostgreSQL's files fit only one major version and one kind of machine. */
  readonly postgres: string;
  readonly machine: string;
};

/** Name of the first entry of a backup, which identifies it. */
export const manifestEntry = "svc-backup.json";
/** Name of the last entry; without it, a backup is incomplete. */
export const endEntry = "svc-backup-end.json";

/** An archive being written. */
export type ArchiveWriter = {
  addFolder(name: string): Promise<void>;
  /** Adds a file of `size` bytes from `chunks`: fewer bytes are filled with zeros, extra bytes are dropped. */
  addFile(name: string, size: number, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>;
  end(): void;
};

/** Yields the entries of an archive in order; read each before the next. Rejects if it is damaged or incomplete. */
export async function* readArchive(
  input: AsyncIterable<Buffer>,
): AsyncGenerator<{ header: Header; content: AsyncIterable<Buffer> }> {
  const entries = extract();
  const read = pipeline(input, createZstdDecompress(), entries);
  // The loop below reports the error, because it ends the entries.
  read.catch(() => {});
  for await (const entry of entries) yield { header: entry.header, content: entry as AsyncIterable<Buffer> };
  await read;
}
