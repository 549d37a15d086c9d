import { SealError, type Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { ensureVaultCheck } from "@svc/db/projects/repo";
import { ConfigError } from "../config/environment.ts";

/** Text sealed directly with the current vault key. A process that can open it has that key. */
export const vaultCheckText: Buffer = Buffer.from("svc");
/** Context of its seal. */
export const vaultCheckContext = "deployment/vault_check/1";

/**
 * Checks that this node can open the others' sealed data. Throws ConfigError if it lacks the vault key of the database: it would claim
 * deliveries that it cannot sign.
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
