import { resolve } from "node:path";
import { checkDeployment, definitionFaultText } from "@svc/catalog";
import type { ConfigFault } from "./config-error.ts";
import type { Environment } from "./environment.ts";

/**
 * What is wrong with the file of SVC_DEPLOYMENT, for a start that other faults refuse already: a file that is read later would be
 * told of at the next start. Apart from `loadConfig`, which commands run that do not load the catalog. None where it is unset.
 */
export async function deploymentFaults(environment: Environment): Promise<readonly ConfigFault[]> {
  const path = environment.get("SVC_DEPLOYMENT")?.trim() ?? "";
  if (path === "") return [];
  const { faults } = await checkDeployment(resolve(path));
  return faults.map((fault) => ({ variable: "SVC_DEPLOYMENT", message: definitionFaultText(fault) }));
}
