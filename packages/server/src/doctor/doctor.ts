import { readConfig } from "../config/config.ts";
import { ConfigError, type ConfigFault, type Environment } from "../config/environment.ts";
import type { Config } from "../config/settings.ts";
import { checks, configurationCheck } from "./checks.ts";
import {
  type CheckResult,
  type DoctorCheck,
  type Examined,
  examinedOf,
  type Machine,
  thisMachine,
} from "./examined.ts";

/** One line of `svc doctor`. `mend` says how to solve the problem; it is empty if `state` is `ok`. */
export type DoctorFinding = {
  readonly check: string;
  readonly state: "ok" | "warning" | "error";
  readonly message: string;
  readonly mend: string;
};

/**
 * Examines a deployment with every check, in the order of their list, and returns what they found. Reads the configuration as `svc serve`
 * does, changes nothing, and starts nothing. An invalid configuration is a finding. `open`: returns the environment; it may throw
 * ConfigError.
 */
export async function examineDeployment(
  open: () => Environment,
  machine: Machine = thisMachine,
): Promise<DoctorFinding[]> {
  let read: { readonly config: Config; readonly faults: readonly ConfigFault[] };
  try {
    read = readConfig(open());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Without the variables of SVC_ENV_FILE, the other checks would examine another deployment.
    return error.faults.flatMap((fault) => findingsOf(configurationCheck, problemOf(fault)));
  }
  const { config, faults } = read;
  const claimed = new Set<string>(checks.flatMap(({ reads = [] }) => reads));
  const others = faults.filter(({ variable }) => !claimed.has(variable));
  const examined = examinedOf(config, others, machine);
  const reported = new Set<string>();
  const findings: DoctorFinding[] = [];
  for (const check of checks) findings.push(...(await runCheck(check, examined, faults, reported)));
  return findings;
}

/** Runs one check. If a variable that it needs is invalid, reports this instead: the first check with the reason, later ones without. */
async function runCheck(
  check: DoctorCheck,
  examined: Examined,
  faults: readonly ConfigFault[],
  reported: Set<string>,
): Promise<DoctorFinding[]> {
  const broken = faults.filter(({ variable }) => check.reads?.some((name) => name === variable));
  const fresh = broken.filter(({ variable }) => !reported.has(variable));
  if (fresh.length > 0) {
    for (const { variable } of fresh) reported.add(variable);
    return fresh.flatMap((fault) => findingsOf(check, problemOf(fault)));
  }
  if (broken.length > 0) {
    const names = [...new Set(broken.map(({ variable }) => variable))].join(", ");
    return findingsOf(check, {
      state: "warning",
      message: `not checked, because ${names} is invalid`,
      mend: `Correct ${names} first.`,
    });
  }
  try {
    return findingsOf(check, await check.run(examined));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return findingsOf(check, { state: "error", message: `the check failed: ${reason}` });
  }
}

function findingsOf({ name, mend }: DoctorCheck, result: CheckResult): DoctorFinding[] {
  if (typeof result === "string") return [{ check: name, state: "ok", message: result, mend: "" }];
  return [result].flat().map(({ state, message, mend: own = mend }) => ({ check: name, state, message, mend: own }));
}

function problemOf({ variable, message }: ConfigFault) {
  return { state: "error", message: `${variable}: ${message}`, mend: `Correct ${variable}.` } as const;
}
