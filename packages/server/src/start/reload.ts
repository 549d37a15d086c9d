import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/settings.ts";
import type { Logger } from "../logger.ts";

/** Reads the file SVC_ENV_FILE again and logs what changed. If the file cannot be read, logs an error and keeps the earlier values. */
export function reloadEnvironment({ environment, tls }: Config, logger: Logger): void {
  try {
    const reload = environment.reload();
    if (reload === undefined) {
      if (tls === undefined) logger.warn("SIGHUP: SVC_ENV_FILE is not set, so there is no file to read again");
      return;
    }
    const names = reload.changed.map(
      ({ variable, secrets }) => `${variable} (${secrets === 1 ? "1 secret" : `${secrets} secrets`})`,
    );
    logger.info(`SVC_ENV_FILE is read again; webhook secrets changed: ${names.join(", ") || "none"}`);
    if (reload.waiting.length > 0)
      logger.warn(`SVC_ENV_FILE: these variables changed, and only a start reads them: ${reload.waiting.join(", ")}`);
    warnOfOverridden(environment, logger);
  } catch (err) {
    logger.error({ err }, "SVC_ENV_FILE is not read again: its earlier values stay in use");
  }
}

/** Logs the variables of SVC_ENV_FILE that have no effect, because the process also sets them. Does not log values. */
export function warnOfOverridden(environment: Environment, logger: Logger): void {
  const names = environment.overridden();
  if (names.length === 0) return;
  logger.warn(
    `SVC_ENV_FILE: the environment also sets these variables and takes precedence, so the file's values have no effect: ${names.join(", ")}`,
  );
}
