import { SealError, type Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { ensureVaultCheck } from "@svc/db/projects/repo";
import { ConfigError } from "../config/environment.ts";

/**
 * Known text by which a process tests its vault key. It is stored encrypted directly with the current vault key, and not with a data key
 * like other values. A process that can decrypt it has this vault key.
 */
export const vaultCheckText: Buffer = Buffer.from("svc");
/**
 * Encryption context of the vault check. The vault check is a known text that is stored encrypted. A node that cannot decrypt it has other
 * vault keys than the database.
 */
export const vaultCheckContext = "deployment/vault_check/1";

/**
 * Checks that this node can decrypt the data that other nodes encrypted. Throws ConfigError if the node does not have the vault key of the
 * database. Such a node would take deliveries that it cannot sign.
 */
export async function checkVault(db: Executor, sealer: Sealer): Promise<void> {
  openVaultCheck(await ensureVaultCheck(db, sealer.seal(vaultCheckText, vaultCheckContext)), sealer);
}

/** Throws ConfigError if a node cannot open the vault check of a database, because it does not have the vault key of this database. */
export function openVaultCheck(sealed: Buffer, sealer: Sealer): void {
  try {
    sealer.open(sealed, vaultCheckContext);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ConfigError([
      {
        variable: "SVC_VAULT_KEY",
        message: `the database's secrets are sealed with another key (${error.message}); every node of a database needs the same keys, and a key that \`svc vault rotate\` has replaced no longer works`,
      },
    ]);
  }
}
