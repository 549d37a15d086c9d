import { createId, createSealer, type Keyring, parseVaultKeys, systemClock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createLogger } from "@svc/server";
import { checkVault, openVault } from "@svc/server/vault";

/**
 * Access to the vault (store of secrets) in a service's database, for a test that runs outside the service. Values are sealed and opened in
 * the same way as in the service.
 */
export type TestVault = { readonly sealer: Keyring } & AsyncDisposable;

/**
 * Opens the vault with `keys`, the text of SVC_VAULT_KEY. If the vault was never opened before, the key in `keys` becomes the vault's key.
 * Rejects if the service would refuse to start with these keys.
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
