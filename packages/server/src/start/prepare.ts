import type { Audience } from "@svc/catalog";
import type { Sealer } from "@svc/core";
import type { Config } from "../config/config.ts";
import type { Logger } from "../logger.ts";
import { forgottenAudience, noteAudience, warnOfAudience } from "./audience.ts";
import { exposureText } from "./exposure.ts";
import { type FirstKey, prepareFirstKey } from "./first-key.ts";
import { noteRestored } from "./restored.ts";
import type { JoinedStore } from "./store.ts";
import { checkVault } from "./vault-check.ts";

/** What a start found in the deployment's store, or made there. */
export type Prepared = {
  /** Who receives events where this start was not told: see `forgottenAudience`. */
  readonly audience: Audience | undefined;
  /** The key that this start made, to be shown once. */
  readonly firstKey: FirstKey | undefined;
};

/**
 * Does once for a start what no node does: the first key, the check of the vault key and the audience, with warnings of what is
 * exposed. Throws ConfigError where the configuration does not fit the store.
 */
export async function prepareDeployment(
  told: Config,
  { store, sealer, logger }: { store: JoinedStore; sealer: Sealer; logger: Logger },
): Promise<Prepared> {
  const audience = await forgottenAudience(told, store.db, logger);
  const config = withAudience(told, audience);
  const exposure = exposureText(config);
  if (exposure !== undefined) logger.warn(exposure);
  const firstKey = await prepareFirstKey(config, store);
  await warnOfAudience(config, store.db, logger);
  await checkVault(store.db, sealer);
  await noteRestored(config, store);
  await noteAudience(told, store.db);
  return { audience, firstKey };
}

/** The configuration with the audience that an earlier start was told, where there is one. */
export function withAudience(config: Config, audience: Audience | undefined): Config {
  return audience === undefined ? config : { ...config, webhookAudience: audience };
}
