/** Thrown if the embedded PostgreSQL cannot run; the message has the cause and the solution. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}

/** No binaries exist for this machine, or they do not run on it. */
export function cannotRunHere(cause: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`the embedded PostgreSQL cannot run here: ${cause}. ${ownServer}`);
}

/** The account PostgreSQL runs as cannot reach the data folder. */
export function folderCannotBeEntered(dataDir: string, blockedAt: string, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `data folder ${dataDir}: PostgreSQL refuses to run as root, so it runs as uid ${uid}, which cannot enter ${blockedAt}. ` +
      `Allow it with "chmod o+x ${blockedAt}", or set SVC_DATA_DIR to a folder such as /var/lib/svc/data. ${ownServer}`,
  );
}

/** The data folder is missing and could not be created. */
export function folderCannotBeMade(dataDir: string, cause: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `data folder ${dataDir} cannot be made: ${cause}. Set SVC_DATA_DIR to a folder that can be written. ${ownServer}`,
  );
}

/** Another account created the data; only that account or root can open them. */
export function folderBelongsToAnother(folder: string, ownerUid: number, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `data folder ${folder} belongs to uid ${ownerUid}, and svc runs as uid ${uid}, which cannot use it. ` +
      `Start svc as uid ${ownerUid} or as root, or set SVC_DATA_DIR to another folder.`,
  );
}

/** Another service's PostgreSQL holds the data. */
export function anotherServiceRuns(dataDir: string, pid: number | undefined): EmbeddedPostgresError {
  const holder = pid === undefined ? "" : ` (its PostgreSQL is process ${pid})`;
  return new EmbeddedPostgresError(
    `another svc is running on ${dataDir}${holder}. Stop it, or set SVC_DATA_DIR to another folder; ` +
      "several nodes share one database through SVC_DATABASE_URL.",
  );
}

/** PostgreSQL or its initdb failed; `log` is the end of its output. */
export function serverFailed(what: string, log: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`the embedded PostgreSQL ${what}: ${log.trim() || "it wrote nothing"}`);
}

const ownServer =
  "Or set SVC_DATABASE_URL=postgres://user:password@host:5432/database to use a PostgreSQL 15 or newer of yours.";
