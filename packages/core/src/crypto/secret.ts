import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 43; // 43 base62 characters carry 256 bits
const checksumLength = 6; // 6 base62 characters hold a CRC-32
const apiKeyPattern = /^svc_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/;
const signingSecretPattern = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
/** Size of a secret by Standard Webhooks, in bytes. */
const signingSecretBounds = { min: 24, max: 64 };

/**
 * Generates an API key: `svc_`, 43 random base62 characters (256 bits), `_`, and the base62 CRC-32 of the part before it. Only its digest
 * is stored.
 */
export function generateApiKey(): string {
  const random = Array.from({ length: randomLength }, () => base62.charAt(randomInt(base62.length)));
  const body = `svc_${random.join("")}`;
  return `${body}_${checksumOf(body)}`;
}

/**
 * True if a text has the form and checksum of a generated key. Use it for secret scanners, and to report "mistyped" instead of "unknown".
 * It does not check validity, and bootstrap keys need not have the form.
 */
export function isWellFormedApiKey(text: string): boolean {
  if (!apiKeyPattern.test(text)) return false;
  return text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength - 1));
}

/** Returns the SHA-256 of a secret's UTF-8 text, 32 bytes: stored and looked up instead of a random secret. */
export function digestSecret(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Compares two secrets (texts as UTF-8) by their digests. The time does not depend on where, or in which length, they differ. */
export function equalConstantTime(a: Uint8Array | string, b: Uint8Array | string): boolean {
  // As texts that overwrite the previous ones: two Buffers per comparison would cost more than the hashes.
  left.write(hash("sha256", a, "binary"), "latin1");
  right.write(hash("sha256", b, "binary"), "latin1");
  return timingSafeEqual(left, right);
}

const left = Buffer.alloc(32);
const right = Buffer.alloc(32);

/** Generates a subscription's signing secret: `whsec_` and 32 random bytes in base64, as in Standard Webhooks. */
export function generateSigningSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** Generates a secret for a session or a link, stored only by its digest: 32 random bytes as 43 characters that need no escaping in URLs. */
export function generateToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the key bytes of a Standard Webhooks signature, 24 to 64: 32 in secrets generated here, others in secrets from agents. Throws an
 * Error, without the text, if it is not such a secret.
 */
export function signingSecretBytes(secret: string): Buffer {
  const bytes = readSigningSecret(secret);
  if (bytes !== undefined) return bytes;
  const { min, max } = signingSecretBounds;
  throw new Error(
    `signing secret of ${secret.length} characters: expected whsec_ and ${min} to ${max} bytes in base64`,
  );
}

/** The same, but undefined instead of an Error. */
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
