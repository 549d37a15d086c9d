import type { Config } from "../config/config.ts";
import type { CommandContext } from "./command-context.ts";

type SharedVariable = "SVC_DATA_DIR" | "SVC_TOOLKITS" | "SVC_DEPLOYMENT";

/**
 * Where a local service keeps its data and definitions, by the variables and defaults that the service itself uses. Only the named
 * variables are read: a shell that calls the service need not have the others, nor have them right. Rejects with ConfigError.
 */
export async function clientConfig(
  { environment }: CommandContext,
  ...names: readonly SharedVariable[]
): Promise<Pick<Config, "dataDir" | "toolkitFolders" | "deploymentFile">> {
  // Loaded here: it brings the whole service along, and most commands need nothing of it.
  const { loadConfig } = await import("../config/config.ts");
  return loadConfig({
    ...environment,
    get: (name) => (names.some((known) => known === name) ? environment.get(name) : undefined),
  });
}
