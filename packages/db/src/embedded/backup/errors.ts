/** Thrown if svc cannot make or restore a backup. The message gives the reason and the solution. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** Returns the error for a backup file that already exists. svc never overwrites a backup. */
export function fileExists(file: string): BackupError {
  return new BackupError(`${file} exists already: name a file that does not exist`);
}

/** Returns the error for a data folder that contains no embedded database. */
export function noStore(dataDir: string): BackupError {
  return new BackupError(`${dataDir} holds no embedded database: set SVC_DATA_DIR to the data folder of the service`);
}

/** Returns the error for a data folder that this account cannot read. Only the service's account and root can. */
export function storeUnreadable(dataDir: string, code: string): BackupError {
  return new BackupError(`${dataDir} cannot be read (${code}): run this as the account of the service, or as root`);
}

/**
 * Returns the error for a running server that an older version of svc started. That version does not support a backup while the server
 * runs.
 */
export function serverTooOld(): BackupError {
  return new BackupError(
    "the running service is of a version before backups: restart it with this one, then try again",
  );
}

/** Returns the error for a restore into a data folder that is not empty. */
export function folderInUse(dataDir: string, name: string): BackupError {
  return new BackupError(
    `${dataDir} is not empty, it contains ${name}: set SVC_DATA_DIR to a folder that is empty or missing`,
  );
}

/** Returns the error for an unusable file: it has another format, is from another kind of machine, or is incomplete or damaged. */
export function backupUnusable(file: string, why: string): BackupError {
  return new BackupError(`${file} cannot be restored: ${why}`);
}

/**
 * Returns the error for a backup file without a seal (the part that proves that the file is complete and unchanged). svc restores such a
 * file only if the operator allows it.
 */
export function backupUnsealed(file: string): BackupError {
  return backupUnusable(
    file,
    "it has no seal: a version before seals made it, it was cut off, or it was changed. To restore it without a seal, pass --unsealed. The author of the file then decides what the database contains and can run programs on this machine. Use it only if no one else has ever had the file",
  );
}

/** Returns the error for a file whose seal needs a key that is not among the given keys. */
export function sealKeyMissing(file: string, keyId: string, held: readonly string[]): BackupError {
  const have = held.length === 0 ? "no vault key is given" : `the vault keys given are ${held.join(", ")}`;
  return backupUnusable(
    file,
    `it is sealed with the vault key ${JSON.stringify(keyId)}, and ${have}: put the vault key of the service that was backed up into the vault-key file of the data folder, or into SVC_VAULT_KEY`,
  );
}

/**
 * Returns the error for a backup file that was changed after the backup was made. Its content then does not match its seal (a checksum that
 * is made with the vault key).
 */
export function sealBroken(file: string): BackupError {
  return backupUnusable(
    file,
    "its seal does not match its content: the file was changed after the backup was made, or another vault key of the same id sealed it; use another copy of it",
  );
}

/**
 * Returns the error for a backup whose database contains objects that no version of svc created. `names`: these objects. They could run
 * foreign code, so svc does not restore the backup.
 */
export function foreignObjects(file: string, names: readonly string[]): BackupError {
  return backupUnusable(
    file,
    `its database contains ${names.join(", ")}, which svc did not create and which would run in the service; drop these objects in the database that was backed up, and make another backup`,
  );
}
