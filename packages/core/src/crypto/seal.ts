import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { formatValue } from "../faults/errors.ts";
import type { ProjectId } from "../ids/id.ts";
import { createNonces, nonceBytes, openBox, sealBox, tagBytes } from "./sealed-box.ts";

/** A vault key: its public id and 32 secret bytes. */
export type VaultKey = { id: string; secret: Buffer };

/** Seals small secrets under the vault keys (AES-256-GCM). Any node with the same keys opens what another sealed. */
export type Sealer = {
  /** Seals under the first key. `context` ("project/table/row") is not stored; `open` needs the same one. */
  seal(plaintext: Uint8Array, context: string): Buffer;
  /** Opens values that any of the keys sealed. Throws SealError if the key is unknown, the value was changed, or the context differs. */
  open(sealed: Uint8Array, context: string): Buffer;
  /** Returns 32 bytes for one other use, derived from the first key (HKDF-SHA256, `purpose` as its info). */
  subkey(purpose: string): Buffer;
  /** Returns the same derivation from every key, first key first, each with its key's id: for values that outlive a rotation. */
  subkeys(purpose: string): VaultKey[];
  /** Returns the HMAC-SHA-256 of an entity's id, for places that must not contain the id, with a key that no rotation changes. */
  entityDigest(projectId: ProjectId, entityId: string): Buffer;
  /**
   * Call it before you seal or open values of projects that another node may have created. Resolves when their keys are loaded; undefined
   * if they are already, as nearly always. Rejects if the database is unavailable.
   */
  ready(projectIds: Iterable<ProjectId>): Promise<void> | undefined;
};

/** A sealed value that does not open. The message names the key id and the cause, never the content. */
export class SealError extends Error {
  override name = "SealError";
}

const keyBytes = 32;
const version = 1;
const keyIdPattern = /^[a-z0-9_-]{1,32}$/;
const keySecretPattern = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Reads SVC_VAULT_KEY: `id:base64` keys of 32 bytes, separated by white space; the first seals, all open.
 * Throws an Error that names the faulty entry by position and id, never by its secret.
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
    // A user who swaps the two parts puts the secret here, so report the rule and not the text.
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

/** Generates a vault key in the form that parseVaultKeys reads, with a random id, so that keys of two rotations never have equal ids. */
export function generateVaultKey(): string {
  return `k${randomBytes(4).toString("hex")}:${randomBytes(keyBytes).toString("base64")}`;
}

/** Returns the id of the vault key that sealed a value directly; undefined for values sealed with a data key, and for other bytes. */
export function vaultKeyIdOf(sealed: Uint8Array): string | undefined {
  const idLength = sealed[1];
  if (sealed[0] !== version || idLength === undefined || sealed.byteLength < 2 + idLength) return undefined;
  return Buffer.from(sealed.subarray(2, 2 + idLength)).toString("latin1");
}

/** Creates a sealer from one or more keys; the first seals. Throws an Error for no key, a bad id, or a key that is not 32 bytes. */
export function createSealer(keys: readonly VaultKey[]): Sealer {
  const [first] = keys;
  if (first === undefined) throw new Error("sealer: no vault key given");
  assertDistinctIds(keys);
  for (const { id, secret } of keys) {
    if (!keyIdPattern.test(id) || secret.byteLength !== keyBytes) {
      throw new Error(`sealer: vault key ${formatValue(id)} has a bad id or is not 32 bytes`);
    }
  }
  // Key objects are imported once: passing the bytes each time takes 8 of the 13 us of a small seal.
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

// Layout: version (1 byte), key id length (1), key id, nonce (12), ciphertext, tag (16).
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
    `sealed value does not open under vault key ${formatValue(id)}: it was changed, or sealed for another place than ${formatValue(context)}`,
  );
}

function deriveKey(key: VaultKey, purpose: string): VaultKey {
  // Vault keys are uniformly random, so HKDF needs no salt (RFC 5869, 3.1).
  const derived = hkdfSync("sha256", key.secret, Buffer.alloc(0), purpose, keyBytes);
  return { id: key.id, secret: Buffer.from(derived) };
}
