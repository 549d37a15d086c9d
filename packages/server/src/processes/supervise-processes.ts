import { createSealer, type Sealer, systemClock } from "@svc/core";
import type { DestinationStream } from "pino";
import type { Config } from "../config/settings.ts";
import type { Logger } from "../logger.ts";
import { announce } from "../start/announce.ts";
import { firstConsoleLink } from "../start/console-link.ts";
import { type PreparedStore, prepareDeployment } from "../start/prepare.ts";
import { closeMs, describeStartFault, endProcess, refuse } from "../start/refusal.ts";
import { type HeldStore, holdStore, type JoinedStore, joinStore } from "../start/store.ts";
import { readVaultKeys } from "../start/vault-key.ts";
import type { ProcessAddresses } from "./messages.ts";
import type { ProcessProgram } from "./one-process.ts";
import { ProcessRefusedError, startSupervisor } from "./supervisor.ts";

/** Options of the supervisor. The supervisor holds the database and starts the other processes. */
export type SuperviseOptions = {
  readonly config: Config;
  readonly logger: Logger;
  /** Stream for the log lines of the supervisor and the other processes. */
  readonly output: DestinationStream;
  readonly nextSignal: () => Promise<NodeJS.Signals>;
  readonly program: ProcessProgram;
};

/**
 * Opens the database, prepares the deployment, and runs SVC_PROCESSES processes. When a stop signal arrives, stops them and ends this
 * process: with 0 after a clean stop, and with 1 if the service cannot start or continue.
 */
export async function superviseProcesses({ config, logger, output, ...options }: SuperviseOptions): Promise<never> {
  try {
    // The vault keys are read before the database is created. `readVaultKeys` creates the key file only if the embedded database does not
    // exist yet.
    const sealer = createSealer(await readVaultKeys(config));
    await using opened = new AsyncDisposableStack();
    const store = opened.adopt(await holdStore(config, logger), (held) => held.stop());
    store.failed.catch((err: unknown) => endProcess(logger, err, "the service cannot continue"));
    const prepared = await prepare(config, { store, sealer, logger });
    await superviseUntilSignal({ ...options, config, logger, output, store, prepared });
  } catch (error) {
    const message = error instanceof ProcessRefusedError ? error.message : describeStartFault(error, config);
    if (message !== undefined) return refuse(message);
    return endProcess(logger, error, "the service could not continue, or could not be stopped cleanly");
  }
  logger.info("stopped");
  process.exit(0);
}

type HeldOptions = SuperviseOptions & { readonly store: HeldStore; readonly prepared: PreparedStore };

async function superviseUntilSignal({ nextSignal, ...held }: HeldOptions): Promise<void> {
  const { config, logger, prepared } = held;
  const signalled = nextSignal();
  const supervisor = startSupervisor({ ...held, clock: systemClock });
  process.on("SIGHUP", () => supervisor.reload());
  const places = await Promise.race([supervisor.ready, signalled.then(() => undefined)]);
  if (places !== undefined) {
    const { firstKey } = prepared;
    const createConsoleLink = () => linkConsole(held, places);
    await announce({ ...places, processes: config.processes, firstKey, createConsoleLink }, config, logger);
  }
  logger.info({ signal: await signalled }, "stopping: work in progress is finished");
  if (!(await supervisor.stop(config.drainMs + closeMs)))
    throw new Error("a process ended with an error, or was killed");
}

async function prepare(
  config: Config,
  { store, sealer, logger }: { store: HeldStore; sealer: Sealer; logger: Logger },
): Promise<PreparedStore> {
  await using opened = new AsyncDisposableStack();
  const joined = await joinBriefly(opened, { store, logger });
  return await prepareDeployment(config, { store: joined, sealer, logger });
}

async function linkConsole(
  { config, store, logger }: Omit<HeldOptions, "nextSignal">,
  { url, consoleUrl }: ProcessAddresses,
): Promise<string | undefined> {
  if (consoleUrl === undefined) return undefined;
  await using opened = new AsyncDisposableStack();
  const joined = await joinBriefly(opened, { store, logger });
  return await firstConsoleLink(config, { ...joined, publicUrl: () => config.publicUrl ?? url });
}

/**
 * Opens connections to the database that are used only to prepare the deployment. They are closed when the stack `opened` is disposed,
 * which happens before the serving processes open their own connections.
 */
async function joinBriefly(
  opened: AsyncDisposableStack,
  { store, logger }: { store: HeldStore; logger: Logger },
): Promise<JoinedStore> {
  return opened.adopt(await joinStore(store, logger), (joined) => joined.close());
}
