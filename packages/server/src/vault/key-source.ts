import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateVaultKey, parseVaultKeys, requireText, type VaultKey } from "@svc/core";
import type { Config } from "../config/settings.ts";
import { readIfThere, readVaultKeys } from "../start/vault-key.ts";

/** Source of a deployment's vault keys. */
export type KeySource = {
  /** Returns the keys of the configuration, or the keys that are now in the key file. Throws ConfigError. */
  read(): Promise<readonly VaultKey[]>;
  /**
   * Adds a new vault key (a key that encrypts stored credentials) to the key file. Undefined if the vault keys come from the configuration.
   */
  readonly add?: () => Promise<void>;
  /** Moves retired keys to the file `vault-key.old` in the same folder, because earlier backups need them. Only for a key file. */
  readonly retire?: (ids: ReadonlySet<string>) => Promise<void>;
};

/** Returns the source of the vault keys: the configuration, or the key file of an embedded database. svc writes the key file itself. */
export function keySourceOf(config: Pick<Config, "vaultKeys" | "dataDir">): KeySource {
  const read = () => readVaultKeys(config);
  if (config.vaultKeys !== undefined) return { read };
  const file = join(config.dataDir, "vault-key");
  return {
    read,
    async add() {
      await replace(file, `${generateVaultKey()}\n${requireText(await readFile(file))}`);
    },
    async retire(ids) {
      const keys = await read();
      const gone = keys.filter(({ id }) => ids.has(id));
      if (gone.length === 0 || gone.length === keys.length) return;
      const old = `${file}.old`;
      const kept = (await readIfThere(old)) ?? "";
      const known = kept.trim() === "" ? [] : parseVaultKeys(kept);
      // Retired keys (replaced by finished rotations) are moved from the key file to a second file that ends with `.old`. The second file
      // is written first, so that each key is always in at least one file.
      const added = gone.filter(({ id }) => !known.some((one) => one.id === id));
      if (added.length > 0) await replace(old, `${kept}${textOf(added)}`);
      await replace(file, textOf(keys.filter(({ id }) => !ids.has(id))));
    },
  };
}

function textOf(keys: readonly VaultKey[]): string {
  return keys.map(({ id, secret }) => `${id}:${secret.toString("base64")}\n`).join("");
}

/** Replaces the content of a file. If the write fails, the old content stays. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`;
  await writeFile(next, text, { mode: 0o600, flush: true });
  await rename(next, file);
}

/** Times (in milliseconds) and sizes of a node's vault. */
export type VaultLimits = {
  /** Milliseconds between two reads of the vault's state (its keys and its running rotation) from the database. */
  readonly pollMs: number;
  /**
   * Maximum age in milliseconds of this process's copy of the vault's state (its keys and its running rotation). If the copy is older, the
   * process reads the state again before it decrypts data that other nodes may have encrypted.
   */
  readonly freshMs: number;
  /** Interval in milliseconds at which a node records in the database that it is running. */
  readonly noteMs: number;
  /**
   * Age in milliseconds of a node's last record in the database after which the node counts as ended. A running node regularly records that
   * it runs.
   */
  readonly goneMs: number;
  /**
   * Pause in milliseconds between two passes of a vault key rotation. A pass reads all tables with encrypted values. During the pause,
   * nodes finish writing values that they read before the pass.
   */
  readonly graceMs: number;
  /** Duration in milliseconds of the lease (exclusive right for a limited time) with which a node does the work of a rotation. */
  readonly leaseMs: number;
  /** Number of table rows that a rotation of the vault key encrypts again in one batch. */
  readonly pageRows: number;
};

/** The limits of a vault in production. Tests use other limits. */
export const vaultLimits: VaultLimits = {
  pollMs: 10_000,
  freshMs: 15_000,
  noteMs: 10_000,
  goneMs: 60_000,
  graceMs: 30_000,
  leaseMs: 30_000,
  pageRows: 500,
};
