import { systemClock } from "@svc/core";
import type { Config } from "../config/config.ts";
import type { Logger } from "../logger.ts";
import type { Server } from "../server.ts";

/** Logs why the process cannot go on, and ends it with 1. */
export function endProcess(logger: Logger, err: unknown, message: string): never {
  logger.fatal({ err }, message);
  process.exit(1);
}

/** Beyond the drain: to write what was finished, and to close the store. */
export const closeMs = 10_000;

/** Ends the process with 1 when the server cannot be stopped cleanly, or not in its time. */
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
