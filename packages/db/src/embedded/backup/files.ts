import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { generateToken } from "@svc/core";
import { extract, type Header } from "tar-stream";
import { dataFolderAt } from "../data-folder.ts";

/** Beside a restored store: by it the first start knows that it was restored. `id` differs with every restore. */
type RestoreMarker = {
  readonly id: string;
  /** Of the backup, RFC 3339: all that was committed before it is in the store. */
  readonly endsAt: string;
};

const markerName = "restored.json";

/** Writes the marker into the root of a store that is being restored. */
export async function writeRestoreMarker(root: string, endsAt: string): Promise<void> {
  const marker: RestoreMarker = { id: generateToken(), endsAt };
  await writeFile(join(root, markerName), `${JSON.stringify(marker)}\n`, { mode: 0o600, flag: "wx", flush: true });
}

/** The marker of the store in a data folder; undefined where it was never restored. */
export async function readRestoreMarker(dataDir: string): Promise<RestoreMarker | undefined> {
  const { root } = dataFolderAt(join(dataDir, "postgres"));
  const text = await readFile(join(root, markerName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** The first entry of a backup: what is needed to restore it. */
export type BackupManifest = {
  readonly format: 1;
  /** Of the service that took it. */
  readonly version: string;
  /** The files of PostgreSQL are of one major version and one kind of machine. */
  readonly postgres: string;
  readonly machine: string;
};

/** The first entry of a backup, which says what it is. */
export const manifestEntry = "svc-backup.json";
/** The last one, without which a backup is cut off. */
export const endEntry = "svc-backup-end.json";

/** An archive that is being written. */
export type ArchiveWriter = {
  addFolder(name: string): Promise<void>;
  /** `size` bytes of `chunks`; what they have less is zeros, what they have more is left out. */
  addFile(name: string, size: number, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>;
  end(): void;
};

/** The entries of an archive in their order; each is to be read before the next. Rejects where it is damaged or cut off. */
export async function* readArchive(
  input: AsyncIterable<Buffer>,
): AsyncGenerator<{ header: Header; content: AsyncIterable<Buffer> }> {
  const entries = extract();
  const read = pipeline(input, createZstdDecompress(), entries);
  // Reported below: the entries end with it.
  read.catch(() => {});
  for await (const entry of entries) yield { header: entry.header, content: entry as AsyncIterable<Buffer> };
  await read;
}
