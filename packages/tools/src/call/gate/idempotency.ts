import { hash } from "node:crypto";
import type { Action } from "@svc/catalog";
import type { AppRequest } from "@svc/connections";
import { createHmacKey, type HmacKey, hmacSha256, isObject, type ProjectId, type Sealer } from "@svc/core";

/**
 * Maximum length of the key sent to the app if the tool's definition sets no limit. It is the length of a whole key: 64 hexadecimal digits.
 */
const keyMax = 64;

/**
 * True if the app accepts an idempotency key for this tool and executes repeats with the same key only once. False if each repeat may be
 * executed.
 */
export function takesKey({ idempotency }: Action): boolean {
  return idempotency !== undefined;
}

/**
 * Returns the arguments, with the app's idempotency key added if the tool takes the key as an argument. A value that the caller gave is
 * kept.
 */
export function withKeyArgument(
  { idempotency, inputSchema }: Action,
  params: Readonly<Record<string, unknown>>,
  key: string,
): Readonly<Record<string, unknown>> {
  const name = idempotency?.argument;
  if (name === undefined || params[name] !== undefined) return params;
  const properties = inputSchema["properties"] as Readonly<Record<string, { maxLength?: number }>> | undefined;
  const lengthMax = idempotency?.maxLength ?? properties?.[name]?.maxLength ?? keyMax;
  return { ...params, [name]: writtenKey(key, idempotency, lengthMax) };
}

/**
 * Returns the request, with the app's idempotency key added as a header if the tool takes the key in a header. An existing header is kept.
 */
export function withKeyHeader({ idempotency }: Action, request: AppRequest, key: string): AppRequest {
  const name = idempotency?.header?.toLowerCase();
  if (name === undefined || request.headers[name] !== undefined) return request;
  const written = writtenKey(key, idempotency, idempotency?.maxLength ?? keyMax);
  return { ...request, headers: { ...request.headers, [name]: written } };
}

/**
 * Returns an idempotency key in the form that the app accepts: the beginning of the key, or a UUID of version 8 (RFC 9562) that is made of
 * the key's SHA-256.
 */
function writtenKey(key: string, idempotency: Action["idempotency"], lengthMax: number): string {
  if (idempotency?.format !== "uuid") return key.slice(0, lengthMax);
  const bytes = hash("sha256", key, "buffer").subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Returns the idempotency key that svc sends to the app, derived from the caller's key and the call. Repeats of a call get the same derived
 * key. A different call gets a different derived key, even with the same caller's key. The app cannot find out the caller's key from the
 * derived key.
 */
export function deriveKey(projectId: string, callerKey: string, callDigest: Buffer): string {
  return hash("sha256", JSON.stringify(["svc-idempotency", projectId, callerKey, callDigest.toString("hex")]), "hex");
}

/**
 * Returns the SHA-256 of a call: its tool, account and arguments except `confirm`. If a caller uses an idempotency key again, the digest
 * must be the same. The digest is never stored or shown in this form, because short sensitive values could be guessed from it (see
 * `DigestKeys`).
 */
export function digestCall(parts: {
  toolSlug: string;
  account: string;
  args: Readonly<Record<string, unknown>>;
}): Buffer {
  const { confirm: _confirm, ...args } = parts.args;
  return hash("sha256", canonicalJson([parts.toolSlug, parts.account, args]), "buffer");
}

/** Protects the digest of a tool call with a secret key, so that the digest may be stored and shown. */
export type DigestKeys = {
  /**
   * Returns the HMAC-SHA-256 of project and digest, with a key from the vault. It does not show outsiders the call's arguments, or that two
   * projects made the same call.
   */
  protect(projectId: ProjectId, callDigest: Buffer): Buffer;
  /** True if the stored value `kept` was made from this digest, with any of the vault's keys. False if it belongs to another call. */
  isOf(projectId: ProjectId, callDigest: Buffer, kept: Buffer): boolean;
};

/** Creates the functions that protect call digests. Their keys are derived from the vault's keys. */
export function createDigestKeys(sealer: Sealer): DigestKeys {
  const purpose = "tool-call-digest";
  // The HMAC key is prepared once. Preparing it again for each digest would take five times as long.
  const first = createHmacKey(sealer.subkey(purpose));
  const all = sealer.subkeys(purpose).map(({ secret }) => createHmacKey(secret));
  const keyed = (key: HmacKey, projectId: ProjectId, callDigest: Buffer) =>
    Buffer.from(hmacSha256(key, [projectId, callDigest], "hex"), "hex");
  return {
    protect: (projectId, callDigest) => keyed(first, projectId, callDigest),
    isOf: (projectId, callDigest, kept) => all.some((key) => keyed(key, projectId, callDigest).equals(kept)),
  };
}

/** Returns JSON with sorted object keys, so that equal values are equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, child: unknown) => {
    if (!isObject(child) || isSorted(Object.keys(child))) return child;
    return Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function isSorted(keys: readonly string[]): boolean {
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key);
}
