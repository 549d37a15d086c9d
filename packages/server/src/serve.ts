import { DefinitionError } from "@svc/catalog";
import { systemClock } from "@svc/core";
import { EmbeddedPostgresError, isUnavailable, MigrationRefusedError } from "@svc/db";
import { type Config, loadConfig } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import { deploymentFaults } from "./config/deployment-faults.ts";
import { type Environment, openEnvironment } from "./config/environment.ts";
import { unknownVariablesText } from "./config/unknown-variables.ts";
import { createLogger, type Logger } from "./logger.ts";
import { type Server, startServer } from "./server.ts";
import { noteFirstKeyShown } from "./start/first-key.ts";
import { consoleText, firstKeyText, startText } from "./start/start-text.ts";
import { version } from "./version.ts";

/** Who runs a server: `onStarted` hears that everything is loaded, and requests may come. */
export type ServeOptions = {
  readonly nextSignal: () => Promise<NodeJS.Signals>;
  readonly onStarted?: () => void;
};

/**
 * Runs a server with the configuration of the environment until the signal that `nextSignal` waits for, then ends the process:
 * with 0 after a clean stop, with 1 when it cannot start or go on. SIGHUP reads SVC_ENV_FILE and the certificate again. Without a
 * terminal everything it writes is a line of JSON, and no secret is in it.
 */
export async function serve({ nextSignal, onStarted = () => {} }: ServeOptions): Promise<never> {
  const config = await readConfig();
  const logger = await createLogger({ level: config.logLevel });
  process.on("uncaughtException", (err) => end(logger, err, "unforeseen fault, the process ends"));
  // Node's own listener writes plain text.
  process.removeAllListeners("warning").on("warning", (err) => logger.warn({ err }, "the runtime warns"));
  const unknown = unknownVariablesText(config.environment);
  if (unknown !== undefined) logger.warn(unknown);
  const server = await start(config, logger);
  onStarted();
  const signalled = nextSignal();
  // With its store gone a server can finish nothing: what it held is delivered by whoever starts next.
  server.failed.catch((err: unknown) => end(logger, err, "the service cannot go on"));
  process.on("SIGHUP", () => {
    reload(config, logger);
    void server.reloadTls();
  });
  await announce(server, config, logger);
  const signal = await signalled;
  logger.info({ signal }, "stopping: what is in flight is finished");
  await stop(server, config, logger);
  process.exit(0);
}

function end(logger: Logger, err: unknown, message: string): never {
  logger.fatal({ err }, message);
  process.exit(1);
}

async function readConfig(): Promise<Config> {
  let environment: Environment | undefined;
  try {
    environment = openEnvironment();
    return loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const others = environment === undefined ? [] : await deploymentFaults(environment);
    return refuse(new ConfigError([...error.faults, ...others]).message);
  }
}

async function start(config: Config, logger: Logger): Promise<Server> {
  try {
    return await startServer(config, { logger });
  } catch (error) {
    const message = foreseen(error, config);
    if (message !== undefined) return refuse(message);
    return end(logger, error, "the service could not start");
  }
}

// The log is written asynchronously, and the key is to stand below its first lines.
const logWriteMs = 50;

/**
 * Says where the server listens, then the first key, until a start has come this far: on a terminal the key itself, else its file. Then where
 * the console is: on a terminal a link that opens it, else the address, since a log is read by others.
 */
async function announce(server: Server, config: Config, logger: Logger): Promise<void> {
  const { url, adminUrl, consoleUrl, nodeId, firstKey } = server;
  const isTerminal = process.stderr.isTTY;
  const link = isTerminal
    ? await server
        .createConsoleLink()
        .catch((err: unknown) => logger.warn({ err }, "no link to the console could be made"))
    : undefined;
  const shown = link === undefined && consoleUrl !== undefined ? { console: consoleUrl } : {};
  logger.info({ url, adminUrl, role: config.role, nodeId, version, ...shown }, startText(config, url, version));
  if (isTerminal && (firstKey !== undefined || link !== undefined)) {
    await systemClock.wait(logWriteMs);
    if (firstKey !== undefined) process.stderr.write(firstKeyText(url, firstKey));
    if (link !== undefined) process.stderr.write(consoleText(link));
  }
  if (firstKey === undefined) return;
  if (!isTerminal)
    logger.info({ file: firstKey.file }, 'project "default" has a key with the role approver, kept in this file');
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

async function refuse(reason: string): Promise<never> {
  const message = `svc cannot start: ${reason}`;
  if (process.stderr.isTTY) process.stderr.write(`${message}\n`);
  else (await createLogger({ level: "fatal", destination: process.stderr })).fatal(message);
  process.exit(1);
}

function reload({ environment, tls }: Config, logger: Logger): void {
  try {
    const changed = environment.reload();
    if (changed === undefined) {
      if (tls === undefined) logger.warn("SIGHUP: SVC_ENV_FILE is not set, so there is no file to read again");
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

// Beyond the drain: to write what was finished, and to close the store.
const closeMs = 10_000;

/** Ends the process with 1 when the server cannot be stopped cleanly, or not in its time. */
async function stop(server: Server, { drainMs }: Config, logger: Logger): Promise<void> {
  try {
    const late = systemClock.wait(drainMs + closeMs).then(() => true);
    const isLate = await Promise.race([server.stop().then(() => false), late]);
    if (isLate) throw new Error(`not stopped after ${drainMs + closeMs} ms`);
    logger.info("stopped");
  } catch (err) {
    end(logger, err, "the service could not be stopped cleanly");
  }
}
