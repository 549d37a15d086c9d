import { createId, createSealer, type Keyring, parseVaultKeys, systemClock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createLogger } from "@svc/server";
import { checkVault, openVault } from "@svc/server/vault";

/** The vault of a service's database, for another process or a test: it opens and seals as the service does. */
export type TestVault = { readonly sealer: Keyring } & AsyncDisposable;

/**
 * Opens it with the text of SVC_VAULT_KEY. If the vault was never opened before, that becomes its key. Rejects if the service would refuse
 * to start.
 */
export async function openTestVault(db: Database, keys: string): Promise<TestVault> {
  await checkVault(db, createSealer(parseVaultKeys(keys)));
  const vault = await openVault({
    ...{ db, clock: systemClock, nodeId: createId("node", systemClock.now()), isRotating: false },
    keys: { read: async () => parseVaultKeys(keys) },
    logger: await createLogger({ level: "silent", destination: { write: () => {} } }),
  });
  return { sealer: vault.sealer, [Symbol.asyncDispose]: () => vault.stop() };
}
