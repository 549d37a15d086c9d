import { type Config, loadConfig } from "@svc/server/config";
import type { CommandContext } from "../command/context.ts";

type SharedVariable = "SVC_DATA_DIR" | "SVC_VAULT_KEY" | "SVC_TOOLKITS" | "SVC_DEPLOYMENT";

/**
 * Where a local server keeps its data and definitions, by the variables and defaults that the server itself uses. Only the named
 * variables are read: a shell that calls the server need not have the others, nor have them right. Rejects with ConfigError.
 */
export async function localConfig(
  { environment }: CommandContext,
  ...names: readonly SharedVariable[]
): Promise<Pick<Config, "dataDir" | "vaultKeys" | "toolkitFolders" | "deploymentFile">> {
  return loadConfig({
    ...environment,
    get: (name) => (names.some((known) => known === name) ? environment.get(name) : undefined),
  });
}
