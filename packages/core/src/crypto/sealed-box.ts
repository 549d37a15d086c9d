import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";

/** Size of a nonce in bytes. A nonce is a random value that each encryption uses once. */
export const nonceBytes = 12;
/** Size in bytes of the tag by which a changed ciphertext is detected. */
export const tagBytes = 16;

const noncesAtOnce = 256;

/**
 * Returns a function that returns a new random nonce each time. It gets random bytes for many nonces at once, because each request for them
 * is a system call.
 */
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

/**
 * Returns the AES-256-GCM box: the unencrypted header, the nonce, the ciphertext and the tag. The tag also protects `context`, which is not
 * stored.
 */
export function sealBox(
  key: KeyObject,
  { header, nonce, context }: { header: Buffer; nonce: Buffer; context: string },
  plaintext: Uint8Array,
): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce, tagging);
  cipher.setAAD(Buffer.from(context, "utf8"));
  const ciphertext = cipher.update(plaintext);
  // GCM has no final block, so this returns no bytes.
  cipher.final();
  return Buffer.concat([header, nonce, ciphertext, cipher.getAuthTag()]);
}

/**
 * Returns the decrypted content of a box (bytes made with a key: header, nonce, ciphertext and tag). The header has `headerBytes` bytes.
 * Returns undefined if the key or the context differs from that of the encryption, or if a byte was changed.
 */
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
