import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { formatValue } from "../faults/errors.ts";
import type { ProjectId } from "../ids/id.ts";
import { createNonces, nonceBytes, openBox, sealBox, tagBytes } from "./sealed-box.ts";

/** A key from SVC_VAULT_KEY: its id, which is not secret, and 32 secret bytes. */
export type VaultKey = { id: string; secret: Buffer };

/** Seals (encrypts) small secrets with the vault keys, by AES-256-GCM. Any node with the same keys can open the sealed values. */
export type Sealer = {
  /**
   * Returns the value encrypted with the first key. `context` ("project/table/row") says what the value belongs to. It is not stored in the
   * result, and `open` needs the same context.
   */
  seal(plaintext: Uint8Array, context: string): Buffer;
  /**
   * Returns a decrypted value. Any of the keys may have sealed it. Throws SealError if the key is unknown, the value was changed, or the
   * context is not the one used for sealing.
   */
  open(sealed: Uint8Array, context: string): Buffer;
  /** Returns a 32-byte key for another purpose, derived from the first vault key (HKDF-SHA256 with `purpose` as its info). */
  subkey(purpose: string): Buffer;
  /**
   * Returns the derived key for a purpose from every vault key, with the id of that vault key. The first vault key comes first. Use all of
   * them for values that must stay valid after a rotation of the vault keys.
   */
  subkeys(purpose: string): VaultKey[];
  /**
   * Returns the HMAC-SHA-256 of the id of an entity (customer or user). It is stored where the id itself must not appear. The key of this
   * digest does not change at a rotation, so the digest stays the same.
   */
  entityDigest(projectId: ProjectId, entityId: string): Buffer;
  /**
   * Loads the data keys of projects. Call it before you seal or open values of projects that another node may have created. Returns
   * undefined if they are already loaded (the usual case). Otherwise resolves when they are loaded, and rejects if the database is
   * unavailable.
   */
  ready(projectIds: Iterable<ProjectId>): Promise<void> | undefined;
};

/** Error for a sealed value that cannot be opened. The message names the key id and the cause, never the content. */
export class SealError extends Error {
  override name = "SealError";
}

const keyBytes = 32;
const version = 1;
const keyIdPattern = /^[a-z0-9_-]{1,32}$/;
const keySecretPattern = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Returns the vault keys in the text of SVC_VAULT_KEY: `id:base64` entries of 32-byte keys, separated by white space. The first key seals;
 * all keys open. Throws an Error that names a faulty entry by its position and id, never by its secret.
 */
export function parseVaultKeys(text: string): VaultKey[] {
  const entries = text.split(/\s+/).filter((entry) => entry !== "");
  if (entries.length === 0) {
    throw new Error("vault keys: none given; expected one or more id:base64 keys of 32 bytes");
  }
  const keys = entries.map(parseVaultKey);
  assertDistinctIds(keys);
  return keys;
}

function parseVaultKey(entry: string, index: number): VaultKey {
  const place = `vault key ${index + 1}`;
  const colon = entry.indexOf(":");
  if (colon < 0) throw new Error(`${place}: has no colon; expected id:base64`);
  const id = entry.slice(0, colon);
  if (!keyIdPattern.test(id)) {
    // The message does not quote the id. If the user swapped the id and the secret, the text in its place is the secret.
    throw new Error(`${place}: the id must be 1 to 32 characters of a-z, 0-9, "_" and "-"`);
  }
  const encoded = entry.slice(colon + 1);
  if (!keySecretPattern.test(encoded)) {
    const length = Buffer.from(encoded, "base64").byteLength;
    throw new Error(
      `${place} (${id}): expected 32 bytes as 44 characters of standard base64, got ${encoded.length} characters that decode to ${length} bytes`,
    );
  }
  return { id, secret: Buffer.from(encoded, "base64") };
}

function assertDistinctIds(keys: readonly VaultKey[]): void {
  const seen = new Set<string>();
  for (const { id } of keys) {
    if (seen.has(id)) throw new Error(`vault keys: id ${formatValue(id)} is given twice`);
    seen.add(id);
  }
}

/**
 * Returns a new vault key in the form that parseVaultKeys reads. Its id is random, so that the keys of two rotations have different ids.
 */
export function generateVaultKey(): string {
  return `k${randomBytes(4).toString("hex")}:${randomBytes(keyBytes).toString("base64")}`;
}

/**
 * Returns the id of the vault key with which a value was sealed directly. Returns undefined if a data key sealed it, or if the bytes are
 * not a sealed value.
 */
export function vaultKeyIdOf(sealed: Uint8Array): string | undefined {
  const idLength = sealed[1];
  if (sealed[0] !== version || idLength === undefined || sealed.byteLength < 2 + idLength) return undefined;
  return Buffer.from(sealed.subarray(2, 2 + idLength)).toString("latin1");
}

/**
 * Returns a sealer for one or more keys; the first key seals. Throws an Error if there is no key, an id is invalid, or a key does not have
 * 32 bytes.
 */
export function createSealer(keys: readonly VaultKey[]): Sealer {
  const [first] = keys;
  if (first === undefined) throw new Error("sealer: no vault key given");
  assertDistinctIds(keys);
  for (const { id, secret } of keys) {
    if (!keyIdPattern.test(id) || secret.byteLength !== keyBytes) {
      throw new Error(`sealer: vault key ${formatValue(id)} has a bad id or is not 32 bytes`);
    }
  }
  // The key object for each vault key is created once here. To create it for each encryption would take 8 of the 13 µs that a small value
  // needs.
  const byId = new Map(keys.map(({ id, secret }) => [id, { id, secret: createSecretKey(secret) }]));
  const sealing = { id: first.id, secret: createSecretKey(first.secret) };
  const nextNonce = createNonces();
  return {
    seal: (plaintext, context) => sealWith(sealing, nextNonce(), plaintext, context),
    open: (sealed, context) => openWith(byId, sealed, context),
    subkey: (purpose) => deriveKey(first, purpose).secret,
    subkeys: (purpose) => keys.map((key) => deriveKey(key, purpose)),
    entityDigest: (projectId, entityId) =>
      createHmac("sha256", deriveKey(first, `entity-digest ${projectId}`).secret)
        .update(entityId)
        .digest(),
    ready: () => undefined,
  };
}

type ImportedKey = { readonly id: string; readonly secret: KeyObject };

// Returns the sealed value: version (1 byte), length of the key's id (1 byte), the id, nonce (12 bytes), ciphertext, tag (16 bytes).
function sealWith(key: ImportedKey, nonce: Buffer, plaintext: Uint8Array, context: string): Buffer {
  const header = Buffer.from([version, key.id.length, ...Buffer.from(key.id, "latin1")]);
  return sealBox(key.secret, { header, nonce, context }, plaintext);
}

function openWith(keys: ReadonlyMap<string, ImportedKey>, sealed: Uint8Array, context: string): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const headerBytes = 2 + (bytes[1] ?? 0);
  if (bytes.byteLength < headerBytes + nonceBytes + tagBytes) {
    throw new SealError(`sealed value is too short: ${bytes.byteLength} bytes`);
  }
  if (bytes[0] !== version) {
    throw new SealError(`sealed value has version ${bytes[0]}; this service reads ${version}`);
  }
  const id = bytes.toString("latin1", 2, headerBytes);
  const key = keys.get(id);
  if (key === undefined) {
    throw new SealError(`sealed value names vault key ${formatValue(id)}, which is not among the configured keys`);
  }
  const plaintext = openBox(key.secret, bytes, headerBytes, context);
  if (plaintext !== undefined) return plaintext;
  throw new SealError(
    `sealed value cannot be decrypted with vault key ${formatValue(id)}: it was changed, or sealed for another place than ${formatValue(context)}`,
  );
}

function deriveKey(key: VaultKey, purpose: string): VaultKey {
  // HKDF gets no salt. It needs none, because vault keys are uniformly random (RFC 5869, 3.1).
  const derived = hkdfSync("sha256", key.secret, Buffer.alloc(0), purpose, keyBytes);
  return { id: key.id, secret: Buffer.from(derived) };
}
