import { createSealer, type VaultKey } from "@svc/core";
import { type Backup, type BackupOptions, backUpStore } from "@svc/db/embedded/backup/back-up";
import { BackupError } from "@svc/db/embedded/backup/errors";
import { type RestoredBackup, restoreStore } from "@svc/db/embedded/backup/restore";
import type { Config } from "../config/settings.ts";
import { findVaultKeys } from "../start/vault-key.ts";
import { version } from "../version.ts";
import { noteBackup } from "./last-backup.ts";

type Store = Pick<Config, "vaultKeys" | "dataDir">;

/**
 * Copies the embedded database of a data folder into one file, with `backUpStore`. Records this version of svc in the file and encrypts the
 * file with the first vault key. Records the end of the backup in the data folder.
 */
export async function backUp({
  store,
  ...options
}: Omit<BackupOptions, "version" | "key" | "dataDir"> & { readonly store: Store }): Promise<Backup> {
  const [key] = await sealKeys(store);
  if (key === undefined) {
    throw new BackupError(
      `there is no vault key to seal the backup with: ${store.dataDir} has no vault-key file and SVC_VAULT_KEY is not set; set the variable to the key of the service`,
    );
  }
  const backup = await backUpStore({ ...options, dataDir: store.dataDir, version, key });
  await noteBackup(store.dataDir, { file: options.file, endsAt: backup.endsAt });
  return backup;
}

/**
 * Restores a backup into an empty data folder, with `restoreStore`. The backup must be encrypted with one of the vault keys of this server.
 */
export async function restore({
  store,
  ...options
}: {
  readonly store: Store;
  readonly file: string;
  readonly allowsUnsealed: boolean;
  readonly onProgress: (doneBytes: number) => void;
}): Promise<RestoredBackup> {
  return restoreStore({ ...options, dataDir: store.dataDir, keys: await sealKeys(store) });
}

async function sealKeys(store: Store): Promise<readonly VaultKey[]> {
  const keys = await findVaultKeys(store);
  return keys === undefined ? [] : createSealer(keys).subkeys("seal of a backup");
}
