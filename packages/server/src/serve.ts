import { DefinitionError } from "@svc/catalog";
import { systemClock } from "@svc/core";
import { EmbeddedPostgresError, isUnavailable, MigrationRefusedError } from "@svc/db";
import { onInterrupt } from "./cli/interrupts.ts";
import { type Config, loadConfig } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import { type Environment, openEnvironment } from "./config/environment.ts";
import { unknownVariablesText } from "./config/unknown-variables.ts";
import { createLogger, type Logger } from "./logger.ts";
import { noteFirstKeyShown } from "./service/first-key.ts";
import { firstKeyText, startText } from "./service/start-text.ts";
import { type Service, startService } from "./service.ts";
import { version } from "./version.ts";

/**
 * Runs the service with the configuration of the environment until SIGTERM or SIGINT, then ends the process: with 0 after a
 * clean stop, with 1 when it cannot start or go on. SIGHUP reads SVC_ENV_FILE again; a second signal, a second later, ends it at once.
 */
export async function serve(): Promise<never> {
  const config = readConfig();
  const logger = await createLogger({ level: config.logLevel });
  process.on("uncaughtException", (err) => end(logger, err, "unforeseen fault, the process ends"));
  const unknown = unknownVariablesText(config.environment);
  if (unknown !== undefined) logger.warn(unknown);
  const service = await start(config, logger);
  const signalled = nextSignal();
  // With its store gone a service can finish nothing: what it held is delivered by whoever starts next.
  service.failed.catch((err: unknown) => end(logger, err, "the service cannot go on"));
  process.on("SIGHUP", () => reload(config.environment, logger));
  await announce(service, config, logger);
  const signal = await signalled;
  logger.info({ signal }, "stopping: what is in flight is finished");
  await stop(service, config, logger);
  process.exit(0);
}

function end(logger: Logger, err: unknown, message: string): never {
  logger.fatal({ err }, message);
  process.exit(1);
}

function readConfig(): Config {
  try {
    return loadConfig(openEnvironment());
  } catch (error) {
    if (error instanceof ConfigError) refuse(error.message);
    throw error;
  }
}

async function start(config: Config, logger: Logger): Promise<Service> {
  try {
    return await startService(config, { logger });
  } catch (error) {
    const message = foreseen(error, config);
    if (message !== undefined) refuse(message);
    return end(logger, error, "the service could not start");
  }
}

// The log is written asynchronously, and the key is to stand below its first lines.
const logWriteMs = 50;

/** Says where the service listens, then the first key, until a start has come this far. */
async function announce({ url, nodeId, firstKey }: Service, config: Config, logger: Logger): Promise<void> {
  logger.info({ url, role: config.role, nodeId, version }, startText(config, url, version));
  if (firstKey === undefined) return;
  await systemClock.wait(logWriteMs);
  process.stderr.write(firstKeyText(url, firstKey));
  await noteFirstKeyShown(firstKey).catch((err: unknown) =>
    logger.warn({ err }, "that the first key was shown could not be noted: the next start shows it again"),
  );
}

/** What to tell of an error that the operator can mend; undefined for one that needs its stack. */
function foreseen(error: unknown, { host, port, dataDir }: Config): string | undefined {
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
  if (syscall === "listen" || syscall === "getaddrinfo") {
    return `SVC_HOST, SVC_PORT: cannot listen on ${host}, port ${port} (${code}); free the port, or set others`;
  }
  if (isUnavailable(error)) {
    return `SVC_DATABASE_URL: the database cannot be reached (${code}); check its address, and that it runs`;
  }
  // Wrong user or password, no such database.
  if (typeof code === "string" && /^(28|3D)...$/.test(code)) return `SVC_DATABASE_URL: ${(error as Error).message}`;
  return undefined;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`);
}

function refuse(message: string): never {
  process.stderr.write(`svc cannot start: ${message}\n`);
  process.exit(1);
}

function reload(environment: Environment, logger: Logger): void {
  try {
    const changed = environment.reload();
    if (changed === undefined) {
      logger.warn("SIGHUP: SVC_ENV_FILE is not set, so there is no file to read again");
      return;
    }
    const names = changed.map(
      ({ variable, secrets }) => `${variable} (${secrets === 1 ? "1 secret" : `${secrets} secrets`})`,
    );
    logger.info(`SVC_ENV_FILE is read again; webhook secrets changed: ${names.join(", ") || "none"}`);
  } catch (err) {
    logger.error({ err }, "SVC_ENV_FILE is not read again: what it held before stays");
  }
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => onInterrupt(["SIGTERM", "SIGINT"], resolve));
}

// Beyond the drain: to write what was finished, and to close the store.
const closeMs = 10_000;

/** Ends the process with 1 when the service cannot be stopped cleanly, or not in its time. */
async function stop(service: Service, { drainMs }: Config, logger: Logger): Promise<void> {
  try {
    const late = systemClock.wait(drainMs + closeMs).then(() => true);
    const isLate = await Promise.race([service.stop().then(() => false), late]);
    if (isLate) throw new Error(`not stopped after ${drainMs + closeMs} ms`);
    logger.info("stopped");
  } catch (err) {
    end(logger, err, "the service could not be stopped cleanly");
  }
}
