import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 43; // 43 base62 characters have 256 bits
const checksumLength = 6; // 6 base62 characters can store a CRC-32
const apiKeyPattern = /^svc_(?:[0-9a-z]{1,4}_)?[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/;
const signingSecretPattern = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
/** Minimum and maximum size of a signing secret in bytes, as Standard Webhooks requires. */
const signingSecretBounds = { min: 24, max: 64 };

/**
 * Returns a new API key: `svc_`, 43 random base62 characters (256 bits), `_`, and the base62 CRC-32 of the text before it. `cell`: name of
 * this deployment if it is one of several behind one address; the key then begins with `svc_<cell>_`, so that proxies can route by it. svc
 * stores only the digest of a key.
 */
export function generateApiKey(cell?: string): string {
  const random = Array.from({ length: randomLength }, () => base62.charAt(randomInt(base62.length)));
  const body = `${apiKeyPrefix(cell)}${random.join("")}`;
  return `${body}_${checksumOf(body)}`;
}

/**
 * Returns the beginning of the API keys that a deployment creates: `svc_`, or `svc_<cell>_` in a cell (one of several deployments behind
 * one address).
 */
export function apiKeyPrefix(cell: string | undefined): string {
  return cell === undefined ? "svc_" : `svc_${cell}_`;
}

/**
 * True if a text has the form and the checksum of a generated API key. The key may still be unknown. False for mistyped keys, and for keys
 * that were not generated, such as bootstrap keys. Secret scanners use the same check.
 */
export function isWellFormedApiKey(text: string): boolean {
  if (!apiKeyPattern.test(text)) return false;
  return text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength - 1));
}

/** Returns the SHA-256 (32 bytes) of a secret's UTF-8 text. svc stores and looks up this digest instead of the random secret. */
export function digestSecret(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/**
 * True if two secrets are equal, compared by their digests (texts as UTF-8). False otherwise. The comparison always takes the same time, so
 * it reveals nothing about the secrets.
 */
export function equalConstantTime(a: Uint8Array | string, b: Uint8Array | string): boolean {
  // Both digests are written into memory that every comparison uses again, because two new Buffers would cost more than the hashes.
  left.write(hash("sha256", a, "binary"), "latin1");
  right.write(hash("sha256", b, "binary"), "latin1");
  return timingSafeEqual(left, right);
}

const left = Buffer.alloc(32);
const right = Buffer.alloc(32);

/** Returns a new signing secret for a subscription: `whsec_` and 32 random bytes in base64, as in Standard Webhooks. */
export function generateSigningSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/**
 * Returns a new secret for a session or a link: 32 random bytes as 43 characters that need no escaping in URLs. svc stores only the digest
 * of such a secret.
 */
export function generateToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the key bytes of a Standard Webhooks signing secret, 24 to 64 bytes. Secrets that svc generates have 32 bytes; secrets that
 * agents choose may have other lengths. Throws an Error, without the text, if the text is not such a secret.
 */
export function signingSecretBytes(secret: string): Buffer {
  const bytes = readSigningSecret(secret);
  if (bytes !== undefined) return bytes;
  const { min, max } = signingSecretBounds;
  throw new Error(
    `signing secret of ${secret.length} characters: expected whsec_ and ${min} to ${max} bytes in base64`,
  );
}

/** Returns the bytes of a signing secret (`whsec_` and base64). Returns undefined if the text is not a signing secret. */
export function readSigningSecret(secret: string): Buffer | undefined {
  if (!signingSecretPattern.test(secret)) return undefined;
  const text = secret.slice("whsec_".length);
  const bytes = Buffer.from(text, "base64");
  const isWhole = bytes.toString("base64") === text;
  return isWhole && bytes.byteLength >= signingSecretBounds.min && bytes.byteLength <= signingSecretBounds.max
    ? bytes
    : undefined;
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = "";
  while (text.length < checksumLength) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}
