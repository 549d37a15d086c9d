import { DefinitionError } from "@svc/catalog";
import { type CertificateFault, certificateFault, systemClock } from "@svc/core";
import { isPoolerRefusal, isUnavailable, poolerText } from "@svc/db/driver";
import { EmbeddedPostgresError } from "@svc/db/embedded/errors";
import { MigrationRefusedError } from "@svc/db/migrate";
import { ConfigError } from "../config/environment.ts";
import type { Config } from "../config/settings.ts";
import { createLogger, type Logger } from "../logger.ts";
import type { Server } from "../server.ts";

/**
 * Returns a message for a start error that an operator can correct, such as a port in use. Returns undefined for any other error, because
 * its cause can only be found with its stack.
 */
export function describeStartFault(error: unknown, { host, port, dataDir, databaseUrl }: Config): string | undefined {
  if (error instanceof ConfigError || error instanceof DefinitionError) return error.message;
  if (error instanceof EmbeddedPostgresError || error instanceof MigrationRefusedError) return error.message;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (
    path !== undefined &&
    /^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST|ENOSPC)$/.test(code ?? "") &&
    isWithin(path, dataDir)
  ) {
    return `SVC_DATA_DIR: ${path} cannot be used (${code}); name a folder that the service may write to`;
  }
  // An error of a database connection can be one of its host name, too. It then has the query that was not sent.
  if (syscall === "listen" || (syscall === "getaddrinfo" && !("query" in (error as object)))) {
    return `SVC_HOST, SVC_PORT: cannot listen on ${host}, port ${port} (${code}); free the port, or set others`;
  }
  const certificate = databaseUrl === undefined ? undefined : certificateFault(code);
  if (certificate !== undefined) return `SVC_DATABASE_URL: ${certificateWords[certificate]} (${code})`;
  if (isPoolerRefusal(error)) return poolerText;
  if (isUnavailable(error) && databaseUrl === undefined) {
    return `the embedded PostgreSQL in ${dataDir} is unavailable (${code}). If another svc used this folder, wait until it has stopped, and start again`;
  }
  if (isUnavailable(error)) {
    return `SVC_DATABASE_URL: the database is unavailable (${code}); check the address, and that the database runs`;
  }
  // PostgreSQL's codes for a wrong user or password, or a database that does not exist.
  if (typeof code === "string" && /^(28|3D)...$/.test(code)) return `SVC_DATABASE_URL: ${(error as Error).message}`;
  return undefined;
}

const certificateWords: Readonly<Record<CertificateFault, string>> = {
  untrusted:
    "no known authority signed the certificate of the database. If it has a private authority, set NODE_EXTRA_CA_CERTS to the PEM file of that authority. A self-signed certificate is its own authority",
  other_name:
    "the certificate of the database is for another host name. In the URL, write a host name that the certificate contains",
  not_in_time:
    "the certificate of the database has expired or is not valid yet. Renew it, or correct the clock of this machine",
};

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`);
}

/** Writes the reason why the server does not start to standard error, and ends the process with 1. */
export async function refuse(reason: string): Promise<never> {
  const message = `svc cannot start: ${reason}`;
  if (process.stderr.isTTY) process.stderr.write(`${message}\n`);
  else (await createLogger({ level: "fatal", destination: process.stderr })).fatal(message);
  process.exit(1);
}

/** Logs why the process cannot continue, and ends the process with 1. */
export function endProcess(logger: Logger, err: unknown, message: string): never {
  logger.fatal({ err }, message);
  process.exit(1);
}

/** Time in milliseconds that a stopping server has in addition to `drainMs`, to store finished work and close the database. */
export const closeMs = 10_000;

/** Stops the server. Ends the process with 1 if it cannot be stopped cleanly or in time. */
export async function stopServer(server: Server, { drainMs }: Config, logger: Logger): Promise<void> {
  try {
    const late = systemClock.wait(drainMs + closeMs).then(() => true);
    const isLate = await Promise.race([server.stop().then(() => false), late]);
    if (isLate) throw new Error(`not stopped after ${drainMs + closeMs} ms`);
    logger.info("stopped");
  } catch (err) {
    endProcess(logger, err, "the service could not be stopped cleanly");
  }
}
