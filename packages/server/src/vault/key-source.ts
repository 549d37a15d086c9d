import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateVaultKey, parseVaultKeys, requireText, type VaultKey } from "@svc/core";
import type { Config } from "../config/config.ts";
import { readIfThere, readVaultKeys } from "../start/vault-key.ts";

/** Source of a deployment's vault keys. */
export type KeySource = {
  /** Reads the keys of the configuration, or of the current key file. Throws ConfigError. */
  read(): Promise<readonly VaultKey[]>;
  /** For a key file only: adds a new key. */
  readonly add?: () => Promise<void>;
  /** For a key file only: moves retired keys to the file `vault-key.old` in the same folder, which earlier backups need. */
  readonly retire?: (ids: ReadonlySet<string>) => Promise<void>;
};

/** Returns the configuration's keys, or the key file of an embedded database, which the service writes itself. */
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
      // Written first, so that a key is always in at least one of the two files.
      const added = gone.filter(({ id }) => !known.some((one) => one.id === id));
      if (added.length > 0) await replace(old, `${kept}${textOf(added)}`);
      await replace(file, textOf(keys.filter(({ id }) => !ids.has(id))));
    },
  };
}

function textOf(keys: readonly VaultKey[]): string {
  return keys.map(({ id, secret }) => `${id}:${secret.toString("base64")}\n`).join("");
}

/** Writes the file completely or not at all. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`;
  await writeFile(next, text, { mode: 0o600, flush: true });
  await rename(next, file);
}

/** Times and sizes of a node's vault; milliseconds. */
export type VaultLimits = {
  /** Pause between two reads of the vault's state in the database. */
  readonly pollMs: number;
  /** Maximum age of the state before sealed data of another node is opened. */
  readonly freshMs: number;
  /** Interval at which a node records that it runs. */
  readonly noteMs: number;
  /** A node without a record for this long does not run. */
  readonly goneMs: number;
  /** Wait before the next pass over the tables. Values read before the last change have been used by then. */
  readonly graceMs: number;
  /** Lease of a rotation's holder. */
  readonly leaseMs: number;
  /** Rows per batch. */
  readonly pageRows: number;
};

/** Limits of a service. */
export const vaultLimits: VaultLimits = {
  pollMs: 10_000,
  freshMs: 15_000,
  noteMs: 10_000,
  goneMs: 60_000,
  graceMs: 30_000,
  leaseMs: 30_000,
  pageRows: 500,
};
