import { configOfProcess, loadConfig } from "./config/config.ts";
import { ConfigError, type Environment, openEnvironment } from "./config/environment.ts";
import type { Config } from "./config/settings.ts";
import { deploymentFaults, unknownVariablesText } from "./config/unknown-variables.ts";
import { createLogger, type Logger, openStandardOutput } from "./logger.ts";
import type { ProcessProgram } from "./processes/one-process.ts";
import { serveAsProcess } from "./processes/serve-as-process.ts";
import { superviseProcesses } from "./processes/supervise-processes.ts";
import { type Server, startServer } from "./server.ts";
import { announce } from "./start/announce.ts";
import { describeStartFault, endProcess, refuse, stopServer } from "./start/refusal.ts";
import { reloadEnvironment, warnOfOverridden } from "./start/reload.ts";

/**
 * Options of a running server. `onLoaded`: called and awaited when everything is loaded, before the server listens. `onStarted`: called
 * when requests may arrive.
 */
export type ServeOptions = {
  readonly nextSignal: () => Promise<NodeJS.Signals>;
  readonly onLoaded?: () => Promise<void>;
  readonly onStarted?: () => void;
  /** Program that the supervisor starts for each process of the server. It is used only if SVC_PROCESSES sets several processes. */
  readonly program: ProcessProgram;
  /** Number of this process if there are several; undefined for the process that a user started. */
  readonly processNumber?: number | undefined;
};

/**
 * Runs a server with the configuration of the environment until `nextSignal` resolves, and then ends the process: with 0 after a clean
 * stop, with 1 if the server cannot start or continue. SIGHUP reads SVC_ENV_FILE and the certificate again. If standard output is not a
 * terminal, all output is JSON lines without secrets. SVC_PROCESSES starts several such processes.
 */
export async function serve({
  nextSignal,
  onLoaded,
  onStarted = () => {},
  program,
  processNumber,
}: ServeOptions): Promise<never> {
  const config = await readConfig();
  const output = await openStandardOutput();
  const logger = await createLogger({ level: config.logLevel, destination: output, processNumber });
  process.on("uncaughtException", (err) => endProcess(logger, err, "unexpected error, the process ends"));
  // Node's own listener is removed, because it writes warnings as plain text and not as JSON lines.
  process.removeAllListeners("warning").on("warning", (err) => logger.warn({ err }, "the runtime warns"));
  if (processNumber !== undefined)
    return serveAsProcess({ config: configOfProcess(config, processNumber), logger, nextSignal, onLoaded, onStarted });
  const unknown = unknownVariablesText(config.environment);
  if (unknown !== undefined) logger.warn(unknown);
  warnOfOverridden(config.environment, logger);
  if (config.processes > 1) return superviseProcesses({ config, logger, output, nextSignal, program });
  const server = await start(config, { logger, onLoaded });
  onStarted();
  const signalled = nextSignal();
  // The promise `failed` rejects if the server's database ends. The server then cannot finish its work, so the process ends. Deliveries
  // that are stored are sent after the next start.
  server.failed.catch((err: unknown) => endProcess(logger, err, "the service cannot continue"));
  process.on("SIGHUP", () => {
    reloadEnvironment(config, logger);
    void server.reloadTls();
  });
  const { url, adminUrl, nodeId, firstKey, consoleUrl, createConsoleLink } = server;
  await announce({ url, adminUrl, nodeId, firstKey, consoleUrl, createConsoleLink }, config, logger);
  const signal = await signalled;
  logger.info({ signal }, "stopping: work in progress is finished");
  await stopServer(server, config, logger);
  process.exit(0);
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

async function start(
  config: Config,
  { logger, onLoaded }: { logger: Logger; onLoaded: ServeOptions["onLoaded"] },
): Promise<Server> {
  try {
    return await startServer(config, { logger, onLoaded });
  } catch (error) {
    const message = describeStartFault(error, config);
    if (message !== undefined) return refuse(message);
    return endProcess(logger, error, "the service could not start");
  }
}
