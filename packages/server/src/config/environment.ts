import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { ConfigError } from "./config-error.ts";
import { faultsOfEnvFile } from "./env-file.ts";

/** A webhook secret's variable that a reload changed, and how many secrets it holds now. */
export type SecretChange = { readonly variable: string; readonly secrets: number };

/** The variables of the process, over those of SVC_ENV_FILE. */
export type Environment = {
  /** The value of a variable as it is now; undefined when it is unset or empty. */
  get(name: string): string | undefined;
  /** Names of the variables that are set, here and in the file. */
  names(): string[];
  /**
   * Reads SVC_ENV_FILE again and tells the webhook secrets that changed; undefined without such a file. Throws ConfigError, and
   * keeps what it had, when the file cannot be read or is malformed.
   */
  reload(): readonly SecretChange[] | undefined;
};

/**
 * Opens the environment and reads SVC_ENV_FILE where it is set. Throws ConfigError when that file cannot be read or is malformed.
 * The process's own variables are copied: reading process.env asks the system each time, and every post asks for a secret.
 */
export function openEnvironment(
  variables: Readonly<Record<string, string | undefined>> = { ...process.env },
): Environment {
  const file = variables["SVC_ENV_FILE"] || undefined;
  let fromFile = readVariables(file);
  const get = (name: string) => variables[name] || fromFile[name] || undefined;
  return {
    get,
    names: () => [...new Set([...Object.keys(variables), ...Object.keys(fromFile)])],
    reload() {
      if (file === undefined) return undefined;
      const before = fromFile;
      const next = readVariables(file);
      fromFile = next;
      return Object.keys({ ...before, ...next })
        .filter((name) => name.startsWith(secretPrefix) && (variables[name] || before[name] || undefined) !== get(name))
        .sort()
        .map((variable) => ({ variable, secrets: get(variable)?.trim().split(/\s+/).filter(Boolean).length ?? 0 }));
    },
  };
}

/** How the variables of webhook secrets begin. */
export const secretPrefix = "SVC_WEBHOOK_SECRET_";

function readVariables(file: string | undefined): Record<string, string | undefined> {
  if (file === undefined) return {};
  const text = readText(file);
  const faults = faultsOfEnvFile(text);
  if (faults.length === 0) return parseEnv(text);
  throw new ConfigError(faults.map((fault) => ({ variable: "SVC_ENV_FILE", message: `"${file}": ${fault}` })));
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const message = `"${file}" cannot be read (${code}); name a readable file of NAME=value lines`;
    throw new ConfigError([{ variable: "SVC_ENV_FILE", message }]);
  }
}
