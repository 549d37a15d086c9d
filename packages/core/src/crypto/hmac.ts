import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from "node:crypto";

/** A key of HMAC-SHA256, prepared for many digests. */
export type HmacKey = {
  /** The key with the inner padding, where a message follows. */
  readonly inner: Uint8Array;
  /** The key with the outer padding, and behind it room for the inner digest. */
  readonly outer: Buffer;
  /** For what is too long to be copied. */
  readonly whole: KeyObject;
};

const blockBytes = 64;
const digestBytes = 32;

/** Prepares a key: bytes, or a text as UTF-8. */
export function createHmacKey(key: Uint8Array | string): HmacKey {
  const bytes = Buffer.from(key);
  const block = Buffer.alloc(blockBytes);
  block.set(bytes.byteLength > blockBytes ? hash("sha256", bytes, "buffer") : bytes);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  outer.set(block.map((byte) => byte ^ 0x5c));
  return { inner: block.map((byte) => byte ^ 0x36), outer, whole: createSecretKey(bytes) };
}

/** Messages up to so many bytes are copied behind the key. */
const copiedBytesMax = 65_536;
const message = Buffer.alloc(blockBytes + copiedBytesMax);

/**
 * HMAC-SHA256 of the parts, one after the other, texts as ASCII: two hashes (RFC 2104), written out. Node's `Hmac` is an object of its
 * own for each message, and costs a post of 1 KiB three times as much as what it computes.
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
  // As text of one character a byte: a Buffer of each digest would cost more than the hash.
  key.outer.write(hash("sha256", message.subarray(0, at), "binary"), blockBytes, "latin1");
  return hash("sha256", key.outer, encoding);
}

// The last digit of the base64 of 32 bytes carries four bits: with others set it would be a second spelling.
const patterns = { hex: /^[0-9a-fA-F]{64}$/, base64: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/ };
const texts = { hex: [Buffer.alloc(64), Buffer.alloc(64)], base64: [Buffer.alloc(44), Buffer.alloc(44)] } as const;

/** Whether `given` is that digest in its encoding, hex in any case. Takes the same time wherever two digests differ. */
export function isHmacSha256(
  given: string,
  key: HmacKey,
  parts: readonly (Uint8Array | string)[],
  encoding: "hex" | "base64",
): boolean {
  if (!patterns[encoding].test(given)) return false;
  const [left, right] = texts[encoding];
  left.write(encoding === "hex" ? given.toLowerCase() : given, "latin1");
  right.write(hmacSha256(key, parts, encoding), "latin1");
  return timingSafeEqual(left, right);
}

function hmacOf(key: KeyObject, parts: readonly (Uint8Array | string)[], encoding: "hex" | "base64"): string {
  const hmac = createHmac("sha256", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
}
