/** Thrown if the embedded PostgreSQL cannot run. The message gives the cause and the solution. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}

/** Returns the error for a machine for which there are no binaries, or on which the binaries do not run. */
export function cannotRunHere(cause: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`the embedded PostgreSQL cannot run here: ${cause}. ${ownServer}`);
}

/** Returns the error for a data folder that the account of PostgreSQL cannot enter. */
export function folderCannotBeEntered(dataDir: string, blockedAt: string, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `data folder ${dataDir}: PostgreSQL refuses to run as root, so it runs as uid ${uid}, which cannot enter ${blockedAt}. ` +
      `Allow it with "chmod o+x ${blockedAt}", or set SVC_DATA_DIR to a folder such as /var/lib/svc/data. ${ownServer}`,
  );
}

/** Returns the error for a data folder that is missing and that svc could not create. */
export function folderCannotBeMade(dataDir: string, cause: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `data folder ${dataDir} cannot be made: ${cause}. Set SVC_DATA_DIR to a folder that can be written. ${ownServer}`,
  );
}

/** Returns the error for data that another account created. Only that account and root can open the data. */
export function folderBelongsToAnother(folder: string, ownerUid: number, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `data folder ${folder} belongs to uid ${ownerUid}, and svc runs as uid ${uid}, which cannot use it. ` +
      `Start svc as uid ${ownerUid} or as root, or set SVC_DATA_DIR to another folder.`,
  );
}

function holderText(pid: number | undefined): string {
  return pid === undefined ? "" : ` (its PostgreSQL is process ${pid})`;
}

/**
 * Returns a text for the operator: svc waits until another svc process with the same data folder has ended. `waitMs`: maximum waiting time
 * in milliseconds.
 */
export function waitText(dataDir: string, pid: number | undefined, waitMs: number): string {
  return (
    `another svc still uses ${dataDir}${holderText(pid)}; waiting up to ${waitMs / 1_000} s for its end. ` +
    "If it does not stop by itself, stop it, or set SVC_DATA_DIR to another folder."
  );
}

/** Returns the error for a data folder that another svc process uses: that process is still running, or is still stopping. */
export function anotherServiceRuns(dataDir: string, pid: number | undefined): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `another svc is running on ${dataDir}${holderText(pid)}, or is still stopping. Wait for its end and start again, ` +
      "or set SVC_DATA_DIR to another folder. Several nodes share one database through SVC_DATABASE_URL.",
  );
}

/** Returns the error for a failure of PostgreSQL or of its initdb. `log` is the end of the program's output. */
export function serverFailed(what: string, log: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`the embedded PostgreSQL ${what}: ${log.trim() || "it wrote nothing"}`);
}

const ownServer =
  "Or set SVC_DATABASE_URL=postgres://user:password@host:5432/database to use a PostgreSQL 15 or newer of yours.";
