import { setPriority } from "node:os";
import type { Config } from "../config/settings.ts";
import type { Logger } from "../logger.ts";
import { type Server, startServer } from "../server.ts";
import { describeStartFault, endProcess, refuse, stopServer } from "../start/refusal.ts";
import { reloadEnvironment } from "../start/reload.ts";
import { openProcessLink, type ProcessLink } from "./link.ts";

/**
 * Priority of a process with the role `rows`, as in nice(1). If all processors are busy, the processes that take requests run first. Such a
 * process still gets about a tenth of a processor, which is enough to keep its leases.
 */
const rowsNiceness = 10;

/** Options of a process that a supervisor started. */
export type ProcessOptions = {
  readonly config: Config;
  readonly logger: Logger;
  readonly nextSignal: () => Promise<NodeJS.Signals>;
  readonly onLoaded: (() => Promise<void>) | undefined;
  readonly onStarted: () => void;
};

/**
 * Runs one of several server processes, on the supervisor's database. It runs until the supervisor or a signal stops it. A service manager
 * sends its signal to all processes of a service at once. Each process then finishes its work and exits, like a server with only one
 * process.
 */
export async function serveAsProcess({
  config,
  logger,
  nextSignal,
  onLoaded,
  onStarted,
}: ProcessOptions): Promise<never> {
  const link = openProcessLink();
  if (link === undefined)
    return refuse("--process is how SVC_PROCESSES starts its own processes; run svc serve without it");
  if (config.processRole === "rows") setPriority(rowsNiceness);
  const asked = Promise.race([nextSignal(), link.stopped]);
  const serving = { isStarted: false };
  // A server that has not started yet has no work to finish.
  void asked.then(() => serving.isStarted || process.exit(0));
  const server = await start(config, { link, logger, onLoaded });
  serving.isStarted = true;
  onStarted();
  link.onReload(() => {
    reloadEnvironment(config, logger);
    void server.reloadTls();
  });
  // All processes receive the hang-up signal of the terminal. It is ignored here, because the supervisor sends its own message for it.
  process.on("SIGHUP", () => {});
  const { url, adminUrl, consoleUrl, nodeId } = server;
  logger.debug({ nodeId }, "serving with other processes");
  await link.tell({ type: "ready", url, adminUrl, consoleUrl });
  await asked;
  await stopServer(server, config, logger);
  process.exit(0);
}

type StartParts = Pick<ProcessOptions, "logger" | "onLoaded"> & { readonly link: ProcessLink };

async function start(config: Config, { link, logger, onLoaded }: StartParts): Promise<Server> {
  try {
    return await startServer(config, { logger, onLoaded, share: await link.share });
  } catch (error) {
    const message = describeStartFault(error, config);
    if (message === undefined) return endProcess(logger, error, "the process could not start");
    await link.tell({ type: "refused", message });
    process.exit(1);
  }
}
