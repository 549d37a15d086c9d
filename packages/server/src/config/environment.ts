import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { ConfigError } from "./config-error.ts";

/** The variables of the process, over those of SVC_ENV_FILE. */
export type Environment = {
  /** The value of a variable as it is now; undefined when it is unset or empty. */
  get(name: string): string | undefined;
  /** Reads SVC_ENV_FILE again. Throws ConfigError, and keeps what it had, when the file cannot be read. */
  reload(): void;
};

/**
 * Opens the environment and reads SVC_ENV_FILE where it is set. Throws ConfigError when that file cannot be read. The
 * process's own variables are copied: reading process.env asks the system each time, and every post asks for a secret.
 */
export function openEnvironment(
  variables: Readonly<Record<string, string | undefined>> = { ...process.env },
): Environment {
  const file = variables["SVC_ENV_FILE"] || undefined;
  let fromFile = readVariables(file);
  return {
    get: (name) => variables[name] || fromFile[name] || undefined,
    reload: () => {
      fromFile = readVariables(file);
    },
  };
}

function readVariables(file: string | undefined): Record<string, string | undefined> {
  if (file === undefined) return {};
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ConfigError([
      {
        variable: "SVC_ENV_FILE",
        message: `"${file}" cannot be read (${code}); name a readable file of NAME=value lines`,
      },
    ]);
  }
}
