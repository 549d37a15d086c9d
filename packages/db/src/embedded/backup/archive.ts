import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import type { VaultKey } from "@svc/core";
import { extract, type Header, type Pack, pack } from "tar-stream";
import { addSeal } from "./seal.ts";

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

/** A tar archive, compressed with zstd, with a checksum and a seal under `key`, into `output`; `written` resolves when all of it is. */
export function writeArchive(
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

/** A file of a running server may become longer while it is read, or shorter: its log mends what was read. */
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

const zeros = Buffer.alloc(65_536);
