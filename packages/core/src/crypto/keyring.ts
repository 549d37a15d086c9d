import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { formatValue } from "../faults/errors.ts";
import type { ProjectId } from "../ids/id.ts";
import { createSealer, SealError, type Sealer, type VaultKey } from "./seal.ts";
import { createNonces, nonceBytes, openBox, sealBox, tagBytes } from "./sealed-box.ts";

/** Owner of a data key's values: a project, or the deployment. Contexts begin with it. */
export type KeyScope = ProjectId | "deployment";

/** Purpose of a data key: to seal values, or to make keyed digests, which no rotation changes. */
export type DataKeyUse = "seal" | "digest";

/** A random 32-byte key, stored in the database wrapped by a vault key. In a scope, a higher number is newer. */
export type DataKey = {
  readonly number: number;
  readonly scope: KeyScope;
  readonly use: DataKeyUse;
  readonly secret: Buffer;
};

/**
 * Seals values with the data key of their scope: [2, number of the key (4 bytes), nonce, ciphertext, tag]. If that key is not loaded, it
 * seals with the first vault key, as versions before 0.3 always did; it opens those values too.
 */
export type Keyring = Sealer & {
  /** Replaces the vault keys; the first one wraps and seals. A key that is left out opens nothing any more. */
  setVaultKeys(keys: readonly VaultKey[]): void;
  /** Sets subkeys of removed vault keys, by purpose: they come after those in `subkeys`. */
  setOldSubkeys(keys: ReadonlyMap<string, readonly VaultKey[]>): void;
  /** Adds data keys. They open values at once, and seal once `sealsWith` allows it. */
  add(keys: readonly DataKey[]): void;
  /** Selects the data keys that seal: the newest selected key of each scope. */
  sealsWith(isInUse: (number: number) => boolean): void;
  /** Forgets data keys. */
  drop(numbers: Iterable<number>): void;
  has(scope: KeyScope): boolean;
  /** Numbers of the loaded data keys. */
  numbers(): ReadonlySet<number>;
  /** Returns a new data key's secret, wrapped with the first vault key for its scope and use. */
  wrap(scope: KeyScope, use: DataKeyUse, secret: Buffer): Buffer;
  /** Seals with the first vault key itself. */
  sealDirectly(plaintext: Uint8Array, context: string): Buffer;
  /** Throws SealError. */
  unwrap(scope: KeyScope, use: DataKeyUse, wrapped: Uint8Array): Buffer;
};

// First byte of values sealed with a data key.
const dataKeyVersion = 2;
const headerBytes = 5;
const digestPurpose = "entity-digest";

/** Returns the first bytes of values sealed with the data key of a number. */
export function dataKeyHeader(number: number): Buffer {
  const header = Buffer.alloc(headerBytes, dataKeyVersion);
  header.writeUInt32BE(number, 1);
  return header;
}

/** Returns 32 random bytes for a data key. */
export function generateDataKeySecret(): Buffer {
  return randomBytes(32);
}

type OpenDataKey = { readonly key: DataKey; readonly header: Buffer; readonly secret: KeyObject };

/** Creates a keyring without data keys. `load` loads those of projects: see `ready`. Throws like `createSealer`. */
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

/** Returns the scope at the start of a context. */
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
  if (found === undefined) throw new SealError(`sealed value names data key ${number}, which is not in the store`);
  // Another scope's key must open nothing here, even in a manipulated row: values sealed with a deleted key stay closed.
  const plaintext =
    found.key.scope === scopeOf(context) ? openBox(found.secret, bytes, headerBytes, context) : undefined;
  if (plaintext !== undefined) return plaintext;
  throw new SealError(
    `sealed value does not open under data key ${number}: it was changed, or sealed for another place than ${formatValue(context)}`,
  );
}
