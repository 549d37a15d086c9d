import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { extract, type Header } from "tar-stream";

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
