/** Thrown when a backup cannot be taken or restored; the message says why, and what would do. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** The file of a backup is never written over. */
export function fileExists(file: string): BackupError {
  return new BackupError(`${file} exists, and is left as it is: name a file that does not`);
}

/** No embedded store is in the data folder. */
export function noStore(dataDir: string): BackupError {
  return new BackupError(`${dataDir} holds no embedded database: set SVC_DATA_DIR to the data folder of the service`);
}

/** What the service's account and root alone may read. */
export function storeUnreadable(dataDir: string, code: string): BackupError {
  return new BackupError(`${dataDir} cannot be read (${code}): run this as the account of the service, or as root`);
}

/** The server was started by a version that could not be backed up while it ran. */
export function serverTooOld(): BackupError {
  return new BackupError(
    "the service that runs is of a version before backups: restart it with this one, then try again",
  );
}

/** A restore fills an empty data folder alone. */
export function folderInUse(dataDir: string, name: string): BackupError {
  return new BackupError(
    `${dataDir} is not empty, it holds ${name}: set SVC_DATA_DIR to a folder that is empty or missing`,
  );
}

/** Not a backup, one of another kind of machine, or one that is cut off or damaged. */
export function backupUnusable(file: string, why: string): BackupError {
  return new BackupError(`${file} cannot be restored: ${why}`);
}

/** Files that bear no seal are restored only where the operator asks for it. */
export function backupUnsealed(file: string): BackupError {
  return backupUnusable(
    file,
    "it bears no seal: a version before seals took it, it was cut off, or somebody changed it. To restore it all the same, pass --unsealed: whoever wrote the file then decides what the database holds and can run programs on this machine, so use it only for a file that was never in other hands",
  );
}

/** The seal names a key that is not among those given. */
export function sealKeyMissing(file: string, keyId: string, held: readonly string[]): BackupError {
  const have = held.length === 0 ? "no vault key is given" : `the vault keys given are ${held.join(", ")}`;
  return backupUnusable(
    file,
    `it is sealed under the vault key ${JSON.stringify(keyId)}, and ${have}: put the vault key of the service that the backup was taken of into the vault-key file of the data folder, or into SVC_VAULT_KEY`,
  );
}

/** The content is not what the seal was made of. */
export function sealBroken(file: string): BackupError {
  return backupUnusable(
    file,
    "its seal does not fit its content: the file was changed after the backup was taken, or another vault key of the same id sealed it; use another copy of it",
  );
}

/** The database runs what no version of svc made. */
export function foreignObjects(file: string, names: readonly string[]): BackupError {
  return backupUnusable(
    file,
    `its database holds ${names.join(", ")}, which svc did not make and which would run in the service; drop that in the database that was backed up, and take another backup`,
  );
}
