import { resolve } from "node:path";
import { checkDeployment, definitionFaultText } from "@svc/catalog";
import { nearest } from "@svc/catalog/nearest";
import { type ConfigFault, type Environment, secretPrefix } from "./environment.ts";
import { configVariables } from "./variables.ts";

// Pattern for variables that start with SVC_ but belong to the command line, the benchmarks or the tests.
const others = /^SVC_(URL|API_KEY|PROFILE|MOVE_DATABASE_URL|BENCH.*|TEST.*|CRASH.*)$/;

/**
 * Returns a line of text that lists unknown SVC_ variables, each with the most similar known name; undefined if all variables are known.
 */
export function unknownVariablesText(environment: Environment): string | undefined {
  const known: string[] = configVariables.map(({ name }) => name);
  const unknown = environment
    .names()
    .filter((name) => name.startsWith(prefix) && environment.get(name) !== undefined)
    .filter((name) => !known.includes(name) && !name.startsWith(secretPrefix) && !others.test(name))
    .sort();
  if (unknown.length === 0) return undefined;
  return `unknown variables, which svc ignores: ${unknown.map((name) => `${name}${hintOf(name, known)}`).join(", ")}`;
}

const prefix = "SVC_";

function hintOf(name: string, known: readonly string[]): string {
  // The common prefix of the names is removed, because it would make all names similar.
  const rest = (text: string) => text.slice(prefix.length);
  const meant = nearest(rest(name), known.map(rest));
  if (meant !== undefined) return ` (nearest: ${prefix}${meant})`;
  // The name of a webhook secret's variable ends with the name of a toolkit, so only the part before it is compared.
  const isSecret = nearest(rest(name).slice(0, rest(secretPrefix).length), [rest(secretPrefix)]) !== undefined;
  return isSecret ? ` (nearest: ${secretPrefix}<TOOLKIT>)` : "";
}

/**
 * Returns the faults of the deployment file that SVC_DEPLOYMENT names. Empty if the variable is not set. The function is also called if the
 * start fails for another reason, so that the operator sees all faults at the same time. `loadConfig` does not check the deployment file,
 * because it also runs for commands that do not use the file.
 */
export async function deploymentFaults(environment: Environment): Promise<readonly ConfigFault[]> {
  const path = environment.get("SVC_DEPLOYMENT")?.trim() ?? "";
  if (path === "") return [];
  const { faults } = await checkDeployment(resolve(path));
  return faults.map((fault) => ({ variable: "SVC_DEPLOYMENT", message: definitionFaultText(fault) }));
}
