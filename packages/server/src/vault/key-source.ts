import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateVaultKey, parseVaultKeys, requireText, type VaultKey } from "@svc/core";
import type { Config } from "../config/config.ts";
import { readIfThere, readVaultKeys } from "../start/vault-key.ts";

/** Where the vault keys of a deployment come from. */
export type KeySource = {
  /** Reads them: those of the configuration, or of the key file as it is now. Throws ConfigError. */
  read(): Promise<readonly VaultKey[]>;
  /** Of a key file alone: adds a new key to it. */
  readonly add?: () => Promise<void>;
  /** Of a key file alone: moves keys that are refused to the file `vault-key.old` beside it, which backups of before need. */
  readonly retire?: (ids: ReadonlySet<string>) => Promise<void>;
};

/** The configuration's keys, or the key file of an embedded database, which the service writes itself. */
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
      // Written first: a key is in one of the two files at every moment.
      const added = gone.filter(({ id }) => !known.some((one) => one.id === id));
      if (added.length > 0) await replace(old, `${kept}${textOf(added)}`);
      await replace(file, textOf(keys.filter(({ id }) => !ids.has(id))));
    },
  };
}

function textOf(keys: readonly VaultKey[]): string {
  return keys.map(({ id, secret }) => `${id}:${secret.toString("base64")}\n`).join("");
}

/** Whole or not at all. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`;
  await writeFile(next, text, { mode: 0o600, flush: true });
  await rename(next, file);
}

/** Times and sizes of a node's vault; milliseconds. */
export type VaultLimits = {
  /** Pause between two looks at what the store has of the vault. */
  readonly pollMs: number;
  /** What was looked at so long ago is looked at anew before anything of another node's is opened. */
  readonly freshMs: number;
  /** How often a node notes that it runs. */
  readonly noteMs: number;
  /** A node that was not seen for so long does not run. */
  readonly goneMs: number;
  /** Before the next pass over the tables: what was read before the last one changed it has been used by then. */
  readonly graceMs: number;
  /** How long a rotation is held without a word of its holder. */
  readonly leaseMs: number;
  /** Rows of a batch. */
  readonly pageRows: number;
};

/** Those of a service. */
export const vaultLimits: VaultLimits = {
  pollMs: 10_000,
  freshMs: 15_000,
  noteMs: 10_000,
  goneMs: 60_000,
  graceMs: 30_000,
  leaseMs: 30_000,
  pageRows: 500,
};
