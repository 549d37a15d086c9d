import { resolve } from "node:path";
import { checkDeployment, definitionFaultText } from "@svc/catalog";
import { nearest } from "@svc/catalog/nearest";
import { type ConfigFault, type Environment, secretPrefix } from "./environment.ts";
import { configVariables } from "./variables.ts";

// Variables of the command line, the benchmark and the tests.
const others = /^SVC_(URL|API_KEY|BENCH.*|TEST.*|CRASH.*)$/;

/** Returns a line with the unknown SVC_ variables and similar known names; undefined if there are none. */
export function unknownVariablesText(environment: Environment): string | undefined {
  const known: string[] = configVariables.map(({ name }) => name);
  const unknown = environment
    .names()
    .filter((name) => name.startsWith(prefix) && environment.get(name) !== undefined)
    .filter((name) => !known.includes(name) && !name.startsWith(secretPrefix) && !others.test(name))
    .sort();
  if (unknown.length === 0) return undefined;
  return `unknown variables, which nothing reads: ${unknown.map((name) => `${name}${hintOf(name, known)}`).join(", ")}`;
}

const prefix = "SVC_";

function hintOf(name: string, known: readonly string[]): string {
  // The common prefix would make any two names similar.
  const rest = (text: string) => text.slice(prefix.length);
  const meant = nearest(rest(name), known.map(rest));
  if (meant !== undefined) return ` (nearest: ${prefix}${meant})`;
  // A secret's name ends in a toolkit's, so only the part before it is compared.
  const isSecret = nearest(rest(name).slice(0, rest(secretPrefix).length), [rest(secretPrefix)]) !== undefined;
  return isSecret ? ` (nearest: ${secretPrefix}<TOOLKIT>)` : "";
}

/**
 * Returns the faults of the file of SVC_DEPLOYMENT, for a start that fails because of other faults; otherwise they would appear only at the
 * next start. Separate from `loadConfig`, which commands without the catalog use too. Empty if it is unset.
 */
export async function deploymentFaults(environment: Environment): Promise<readonly ConfigFault[]> {
  const path = environment.get("SVC_DEPLOYMENT")?.trim() ?? "";
  if (path === "") return [];
  const { faults } = await checkDeployment(resolve(path));
  return faults.map((fault) => ({ variable: "SVC_DEPLOYMENT", message: definitionFaultText(fault) }));
}
