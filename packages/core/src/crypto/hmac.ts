import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from "node:crypto";

/** A key of HMAC-SHA256, prepared for many digests. */
export type HmacKey = {
  /** The key, combined with the inner padding of HMAC (RFC 2104). `hmacSha256` hashes it followed by the message. */
  readonly inner: Uint8Array;
  /** The key with the outer padding of HMAC, and after it free bytes into which the inner digest is written. */
  readonly outer: Buffer;
  /** The key for Node's own HMAC function, which is used for long messages. */
  readonly whole: KeyObject;
};

const blockBytes = 64;
const digestBytes = 32;

/** Returns an HMAC key prepared for many digests. `key`: bytes, or a text that is encoded as UTF-8. */
export function createHmacKey(key: Uint8Array | string): HmacKey {
  const bytes = Buffer.from(key);
  const block = Buffer.alloc(blockBytes);
  block.set(bytes.byteLength > blockBytes ? hash("sha256", bytes, "buffer") : bytes);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  outer.set(block.map((byte) => byte ^ 0x5c));
  return { inner: block.map((byte) => byte ^ 0x36), outer, whole: createSecretKey(bytes) };
}

/** Maximum size of a message in bytes for which `hmacSha256` copies key and message into one buffer. */
const copiedBytesMax = 65_536;
const message = Buffer.alloc(blockBytes + copiedBytesMax);

/**
 * Returns the HMAC-SHA256 of the concatenated parts. Parts that are texts must be ASCII. The function computes the two hashes of RFC 2104
 * itself, because Node's `Hmac` creates an object per message, which triples the cost for a webhook post of 1 KiB.
 */
export function hmacSha256(key: HmacKey, parts: readonly (Uint8Array | string)[], encoding: "hex" | "base64"): string {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length > copiedBytesMax) return hmacOf(key.whole, parts, encoding);
  message.set(key.inner);
  let at = blockBytes;
  for (const part of parts) {
    if (typeof part === "string") message.write(part, at, "latin1");
    else message.set(part, at);
    at += part.length;
  }
  // The inner digest is written as a text with one character per byte, because a new Buffer for it would cost more than the hash.
  key.outer.write(hash("sha256", message.subarray(0, at), "binary"), blockBytes, "latin1");
  return hash("sha256", key.outer, encoding);
}

// Forms of a digest of 32 bytes. In base64, the last digit has only four bits of the digest. Other last digits are refused; otherwise
// several texts would mean the same digest.
const patterns = { hex: /^[0-9a-fA-F]{64}$/, base64: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/ };
const texts = { hex: [Buffer.alloc(64), Buffer.alloc(64)], base64: [Buffer.alloc(44), Buffer.alloc(44)] } as const;

/** True if `given` is the HMAC-SHA256 of `parts`, written in `encoding`. If `given` is a list, one matching text is enough. */
export function isHmacSha256(
  given: string | readonly string[],
  key: HmacKey,
  parts: readonly (Uint8Array | string)[],
  encoding: "hex" | "base64",
): boolean {
  const wellFormed = [given].flat().filter((text) => patterns[encoding].test(text));
  if (wellFormed.length === 0) return false;
  const [left, right] = texts[encoding];
  right.write(hmacSha256(key, parts, encoding), "latin1");
  let isRight = false;
  // Each comparison takes the same time, so the duration reveals nothing about the digest.
  for (const text of wellFormed) {
    left.write(encoding === "hex" ? text.toLowerCase() : text, "latin1");
    isRight = timingSafeEqual(left, right) || isRight;
  }
  return isRight;
}

function hmacOf(key: KeyObject, parts: readonly (Uint8Array | string)[], encoding: "hex" | "base64"): string {
  const hmac = createHmac("sha256", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
}
