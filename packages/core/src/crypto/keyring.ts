import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { formatValue } from "../faults/errors.ts";
import type { ProjectId } from "../ids/id.ts";
import { createSealer, SealError, type Sealer, type VaultKey } from "./seal.ts";
import { createNonces, nonceBytes, openBox, sealBox, tagBytes } from "./sealed-box.ts";

/**
 * Owner of the values that a data key encrypts: a project, or the deployment. The first part of a value's encryption context is this owner.
 */
export type KeyScope = ProjectId | "deployment";

/**
 * Purpose of a data key. `seal`: it encrypts values. `digest`: it makes keyed digests, and never changes, not even at a rotation of keys.
 */
export type DataKeyUse = "seal" | "digest";

/**
 * A random 32-byte key that encrypts values of one owner. In the database it is encrypted ("wrapped") with a vault key. Newer keys of the
 * same owner have higher numbers.
 */
export type DataKey = {
  readonly number: number;
  readonly scope: KeyScope;
  readonly use: DataKeyUse;
  readonly secret: Buffer;
};

/**
 * A sealer that encrypts each value with the data key of the value's owner. If this key is not loaded, the sealer uses the first vault key.
 */
export type Keyring = Sealer & {
  /**
   * Replaces all vault keys. The first one wraps data keys, and seals values for which no data key is loaded. Values sealed with a vault
   * key that is not in `keys` can no longer be opened.
   */
  setVaultKeys(keys: readonly VaultKey[]): void;
  /**
   * Sets the derived keys that come from vault keys which the operator has removed, by purpose. `subkeys` then returns them after the keys
   * derived from the current vault keys. So values made with a removed vault key can still be checked.
   */
  setOldSubkeys(keys: ReadonlyMap<string, readonly VaultKey[]>): void;
  /**
   * Loads data keys (keys that encrypt the values of one project). The keyring can then decrypt the values that these keys encrypted. It
   * encrypts new values with a data key only if `sealsWith` has allowed the key's number.
   */
  add(keys: readonly DataKey[]): void;
  /**
   * Sets which data keys may encrypt values. Each project, and the deployment itself, has its own data keys. For each of them, svc encrypts
   * with the newest key whose number `isInUse` accepts.
   */
  sealsWith(isInUse: (number: number) => boolean): void;
  /** Removes the data keys with these numbers from memory. */
  drop(numbers: Iterable<number>): void;
  has(scope: KeyScope): boolean;
  /** Returns the numbers of the loaded data keys. */
  numbers(): ReadonlySet<number>;
  /**
   * Returns a new data key's secret, encrypted ("wrapped") with the first vault key. `unwrap` decrypts it only for the same scope and use.
   */
  wrap(scope: KeyScope, use: DataKeyUse, secret: Buffer): Buffer;
  /** Returns a value encrypted with the same vault key that encrypts the data keys. */
  sealDirectly(plaintext: Uint8Array, context: string): Buffer;
  /** Returns the secret of a data key that was encrypted ("wrapped") with a vault key. Throws SealError if it cannot be decrypted. */
  unwrap(scope: KeyScope, use: DataKeyUse, wrapped: Uint8Array): Buffer;
};

// First byte of every value that a data key sealed (encrypted).
const dataKeyVersion = 2;
const headerBytes = 5;
const digestPurpose = "entity-digest";

/** Returns the first bytes of a value sealed with the data key `number`. */
export function dataKeyHeader(number: number): Buffer {
  const header = Buffer.alloc(headerBytes, dataKeyVersion);
  header.writeUInt32BE(number, 1);
  return header;
}

/** Returns 32 random bytes for a key. */
export function generateKeyBytes(): Buffer {
  return randomBytes(32);
}

type OpenDataKey = { readonly key: DataKey; readonly header: Buffer; readonly secret: KeyObject };

/**
 * Creates a keyring (the data keys of projects) that is empty at first. Its method `ready` calls `load`, which loads missing data keys.
 * Throws an error if the vault keys, with which data keys are encrypted, are invalid.
 */
export function createKeyring(
  vaultKeys: readonly VaultKey[],
  load: (missing: readonly ProjectId[]) => Promise<void> | undefined,
): Keyring {
  let vault = createSealer(vaultKeys);
  let oldSubkeys: ReadonlyMap<string, readonly VaultKey[]> = new Map();
  let isInUse: (number: number) => boolean = () => true;
  const held = new Map<number, OpenDataKey>();
  const sealing = new Map<string, OpenDataKey>();
  const digesting = new Map<string, OpenDataKey>();
  const nextNonce = createNonces();
  const choose = () => {
    sealing.clear();
    digesting.clear();
    for (const one of held.values()) {
      const { scope, use, number } = one.key;
      const chosen = use === "seal" ? sealing : digesting;
      const isNewer = (chosen.get(scope)?.key.number ?? -1) < number;
      if (isNewer && (use === "digest" || isInUse(number))) chosen.set(scope, one);
    }
  };
  const wrapContext = (scope: KeyScope, use: DataKeyUse) => `${scope}/data_keys/${use}`;
  return {
    seal(plaintext, context) {
      const key = sealing.get(scopeOf(context));
      if (key === undefined) return vault.seal(plaintext, context);
      return sealBox(key.secret, { header: key.header, nonce: nextNonce(), context }, plaintext);
    },
    open: (sealed, context) =>
      sealed[0] === dataKeyVersion ? openWith(held, sealed, context) : vault.open(sealed, context),
    subkey: (purpose) => vault.subkey(purpose),
    subkeys: (purpose) => [...vault.subkeys(purpose), ...(oldSubkeys.get(purpose) ?? [])],
    entityDigest(projectId, entityId) {
      const key = digesting.get(projectId);
      return key === undefined
        ? vault.entityDigest(projectId, entityId)
        : createHmac("sha256", key.secret).update(digestPurpose).update(entityId).digest();
    },
    ready: (projectIds) => {
      let missing: ProjectId[] | undefined;
      for (const id of projectIds) {
        if (sealing.has(id)) continue;
        missing ??= [];
        missing.push(id);
      }
      return load(missing ?? []);
    },
    setVaultKeys(keys) {
      vault = createSealer(keys);
    },
    setOldSubkeys(keys) {
      oldSubkeys = keys;
    },
    add(keys) {
      for (const key of keys) {
        held.set(key.number, { key, header: dataKeyHeader(key.number), secret: createSecretKey(key.secret) });
      }
      choose();
    },
    sealsWith(inUse) {
      isInUse = inUse;
      choose();
    },
    drop(numbers) {
      for (const number of numbers) held.delete(number);
      choose();
    },
    has: (scope) => sealing.has(scope) && digesting.has(scope),
    numbers: () => new Set(held.keys()),
    wrap: (scope, use, secret) => vault.seal(secret, wrapContext(scope, use)),
    sealDirectly: (plaintext, context) => vault.seal(plaintext, context),
    unwrap: (scope, use, wrapped) => vault.open(wrapped, wrapContext(scope, use)),
  };
}

/** Returns the owner (a project or the deployment) that is the first part of an encryption context. */
function scopeOf(context: string): string {
  return context.slice(0, context.indexOf("/"));
}

function openWith(held: ReadonlyMap<number, OpenDataKey>, sealed: Uint8Array, context: string): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.byteLength < headerBytes + nonceBytes + tagBytes) {
    throw new SealError(`sealed value is too short: ${bytes.byteLength} bytes`);
  }
  const number = bytes.readUInt32BE(1);
  const found = held.get(number);
  if (found === undefined) throw new SealError(`sealed value names data key ${number}, which is not in the database`);
  // The data key must have the same owner (project or deployment) as the place of the value. Otherwise, an attacker who changes a row could
  // make svc decrypt values of an owner whose key was deleted.
  const plaintext =
    found.key.scope === scopeOf(context) ? openBox(found.secret, bytes, headerBytes, context) : undefined;
  if (plaintext !== undefined) return plaintext;
  throw new SealError(
    `sealed value cannot be decrypted with data key ${number}: it was changed, or sealed for another place than ${formatValue(context)}`,
  );
}
