import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";

/** Bytes of a nonce. */
export const nonceBytes = 12;
/** Bytes of what tells whether a value was changed. */
export const tagBytes = 16;

const noncesAtOnce = 256;

/** Random nonces, drawn many at a time: each one by itself costs a call of the kernel. */
export function createNonces(): () => Buffer {
  let pool = Buffer.alloc(0);
  return () => {
    if (pool.byteLength === 0) pool = randomBytes(noncesAtOnce * nonceBytes);
    const nonce = pool.subarray(0, nonceBytes);
    pool = pool.subarray(nonceBytes);
    return nonce;
  };
}

const tagging = { authTagLength: tagBytes };

/** AES-256-GCM: the header as it is, nonce, ciphertext, tag. `context` is bound and not stored. */
export function sealBox(
  key: KeyObject,
  { header, nonce, context }: { header: Buffer; nonce: Buffer; context: string },
  plaintext: Uint8Array,
): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce, tagging);
  cipher.setAAD(Buffer.from(context, "utf8"));
  const ciphertext = cipher.update(plaintext);
  // GCM has no last block: nothing is left for the end.
  cipher.final();
  return Buffer.concat([header, nonce, ciphertext, cipher.getAuthTag()]);
}

/** The plaintext behind a header of `headerBytes`. Undefined where key, context or bytes are others than those that were sealed. */
export function openBox(key: KeyObject, bytes: Buffer, headerBytes: number, context: string): Buffer | undefined {
  const nonce = bytes.subarray(headerBytes, headerBytes + nonceBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, tagging);
  decipher.setAAD(Buffer.from(context, "utf8"));
  decipher.setAuthTag(bytes.subarray(bytes.byteLength - tagBytes));
  const ciphertext = bytes.subarray(headerBytes + nonceBytes, bytes.byteLength - tagBytes);
  try {
    const plaintext = decipher.update(ciphertext);
    decipher.final();
    return plaintext;
  } catch {
    return undefined;
  }
}
