import type { Config } from "../config/config.ts";
import type { Logger } from "../logger.ts";

/** Reads SVC_ENV_FILE again, where it is set, and logs what changed, or why it could not be read. */
export function reloadEnvironment({ environment, tls }: Config, logger: Logger): void {
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
