import { SealError, type Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { ensureVaultCheck } from "@svc/db/projects/repo";
import { ConfigError } from "../config/environment.ts";

/** What is sealed directly under the vault key in use: whoever opens it has that key. */
export const vaultCheckText: Buffer = Buffer.from("svc");
/** The context that it is sealed for. */
export const vaultCheckContext = "deployment/vault_check/1";

/**
 * Makes sure that this node opens what the others seal. Throws ConfigError when the database was begun with a vault key
 * that is not among this node's: it would claim deliveries and be unable to sign them.
 */
export async function checkVault(db: Executor, sealer: Sealer): Promise<void> {
  const sealed = await ensureVaultCheck(db, sealer.seal(vaultCheckText, vaultCheckContext));
  try {
    sealer.open(sealed, vaultCheckContext);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ConfigError([
      {
        variable: "SVC_VAULT_KEY",
        message: `the database's secrets are sealed with another key (${error.message}); every node of a database has the same keys, and one that \`svc vault rotate\` has replaced opens nothing any more`,
      },
    ]);
  }
}
