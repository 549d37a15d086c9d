import { constants } from "node:os";
import { DefinitionError } from "@svc/catalog";
import { systemClock } from "@svc/core";
import { EmbeddedPostgresError, isUnavailable, MigrationRefusedError } from "@svc/db";
import { type Config, loadConfig } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import { openEnvironment } from "./config/environment.ts";
import { createLogger, type Logger } from "./logger.ts";
import { firstKeyText, startText } from "./service/start-text.ts";
import { type Service, startService } from "./service.ts";

/**
 * Runs the service with the configuration of the environment until SIGTERM or SIGINT, then ends the process: with 0 after a
 * clean stop, with 1 when it cannot start or go on. SIGHUP reads SVC_ENV_FILE again; a second signal ends it at once.
 */
export async function serve(): Promise<never> {
  const config = readConfig();
  const logger = await createLogger({ level: config.logLevel });
  process.on("uncaughtException", (err) => end(logger, err, "unforeseen fault, the process ends"));
  const service = await start(config, logger);
  // With its store gone a service can finish nothing: what it held is delivered by whoever starts next.
  service.failed.catch((err: unknown) => end(logger, err, "the service cannot go on"));
  process.on("SIGHUP", () => reload(service, logger));
  const signal = await nextSignal();
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
    const service = await startService(config, { logger });
    const url = config.publicUrl ?? service.url;
    logger.info({ url: service.url, role: config.role, nodeId: service.nodeId }, startText(config, service.url));
    if (service.firstKey !== undefined) process.stderr.write(firstKeyText(url, service.firstKey));
    return service;
  } catch (error) {
    const message = foreseen(error, config);
    if (message !== undefined) refuse(message);
    return end(logger, error, "the service could not start");
  }
}

/** What to tell of an error that the operator can mend; undefined for one that needs its stack. */
function foreseen(error: unknown, { host, port }: Config): string | undefined {
  if (error instanceof ConfigError || error instanceof DefinitionError) return error.message;
  if (error instanceof EmbeddedPostgresError || error instanceof MigrationRefusedError) return error.message;
  const { code, syscall } = error as NodeJS.ErrnoException;
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

function refuse(message: string): never {
  process.stderr.write(`svc cannot start: ${message}\n`);
  process.exit(1);
}

function reload(service: Service, logger: Logger): void {
  try {
    service.reload();
    logger.info("SVC_ENV_FILE is read again");
  } catch (err) {
    logger.error({ err }, "SVC_ENV_FILE is not read again: what it held before stays");
  }
}

/** The first signal to stop. From then on another one ends the process at once. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const name of ["SIGTERM", "SIGINT"] as const) {
      process.on(name, () => {
        if (isStopping) process.exit(128 + constants.signals[name]);
        isStopping = true;
        resolve(name);
      });
    }
  });
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
