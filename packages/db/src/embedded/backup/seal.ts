import { createHmac, timingSafeEqual } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Transform } from "node:stream";
import type { VaultKey } from "@svc/core";
import { sealBroken } from "./errors.ts";

// First bytes of a seal. The seal is the last frame of the file; readers of zstd skip this frame. It consists of a magic number, its
// length, this label, the key's id padded with zeros, and an HMAC-SHA-256 of all bytes before the frame.
const label = Buffer.from("svc backup seal1");
const idBytes = 32;
const macBytes = 32;
const contentBytes = label.byteLength + idBytes + macBytes;
const sealBytes = 8 + contentBytes;

function headOf(keyId: string): Buffer {
  const head = Buffer.alloc(sealBytes - macBytes);
  head.writeUInt32LE(0x184d2a50, 0);
  head.writeUInt32LE(contentBytes, 4);
  label.copy(head, 8);
  head.write(keyId, 8 + label.byteLength, "latin1");
  return head;
}

/** Returns a stream that passes all bytes through and then appends their seal, made with a key. */
export function addSeal({ id, secret }: VaultKey): Transform {
  const mac = createHmac("sha256", secret);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      mac.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      const head = headOf(id);
      done(null, Buffer.concat([head, mac.update(head).digest()]));
    },
  });
}

/**
 * The seal at the end of a backup file, a keyed hash of all bytes before it. `coveredBytes`: number of these bytes. `keyId`: id of the vault
 * key that made the seal. `mac`: the hash.
 */
export type BackupSeal = { readonly coveredBytes: number; readonly keyId: string; readonly mac: Buffer };

/** Returns the seal (a keyed hash of all earlier bytes) at the end of a backup file. Returns undefined if the file has no seal. */
export async function readSeal(file: FileHandle): Promise<BackupSeal | undefined> {
  const { size } = await file.stat();
  const coveredBytes = size - sealBytes;
  if (coveredBytes < 0) return undefined;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(sealBytes), 0, sealBytes, coveredBytes);
  const idStart = 8 + label.byteLength;
  const keyId = buffer.toString("latin1", idStart, idStart + idBytes).replace(/\0+$/, "");
  const isSeal = bytesRead === sealBytes && buffer.subarray(0, sealBytes - macBytes).equals(headOf(keyId));
  return isSeal ? { coveredBytes, keyId, mac: buffer.subarray(sealBytes - macBytes) } : undefined;
}

/**
 * Yields the bytes of a backup file that its seal (an HMAC at the end of the file) protects. Throws BackupError after the last byte if the
 * bytes do not match the seal.
 */
export async function* sealedBytes(
  path: string,
  file: FileHandle,
  { coveredBytes, keyId, mac }: BackupSeal,
  key: VaultKey,
): AsyncGenerator<Buffer> {
  const found = createHmac("sha256", key.secret);
  for await (const chunk of bytesOf(file, coveredBytes)) {
    found.update(chunk);
    yield chunk;
  }
  if (!timingSafeEqual(found.update(headOf(keyId)).digest(), mac)) throw sealBroken(path);
}

/** Yields the first `untilBytes` bytes of a file. */
export async function* bytesOf(file: FileHandle, untilBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < untilBytes; ) {
    const chunk = Buffer.allocUnsafe(Math.min(262_144, untilBytes - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.byteLength, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
