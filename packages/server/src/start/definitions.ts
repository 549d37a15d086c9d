import { type Catalog, type Deployment, loadCatalog, loadDeployment } from "@svc/catalog";
import type { Config } from "../config/settings.ts";

/** Reads the deployment file of the configuration; undefined if it names none. Rejects with DefinitionError if the file has errors. */
export async function readDeployment({ deploymentFile }: Config): Promise<Deployment | undefined> {
  return deploymentFile === undefined ? undefined : loadDeployment(deploymentFile);
}

/** Reads the toolkit definitions of the configuration. Rejects with DefinitionError, which lists the errors of all files. */
export function readCatalog(
  { toolkitFolders, webhookAudience }: Config,
  deployment: Deployment | undefined,
): Promise<Catalog> {
  return loadCatalog({ folders: toolkitFolders, deployment, audience: webhookAudience });
}
