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
