import type { Config } from "../config/config.ts";
import type { CommandContext } from "./command-context.ts";

// The other variables are the service's own: a shell that only calls it need not have them, nor have them right.
const sharedVariables = new Set(["SVC_DATA_DIR", "SVC_TOOLKITS", "SVC_DEPLOYMENT"]);

/** Where a local service keeps its data and definitions, by the variables and defaults that the service itself uses. */
export async function clientConfig({
  environment,
}: CommandContext): Promise<Pick<Config, "dataDir" | "toolkitFolders" | "deploymentFile">> {
  // Loaded here: it brings the whole service along, and most commands need nothing of it.
  const { loadConfig } = await import("../config/config.ts");
  return loadConfig({
    get: (name) => (sharedVariables.has(name) ? environment.get(name) : undefined),
    reload: () => environment.reload(),
  });
}
