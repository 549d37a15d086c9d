import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { requireText } from "@svc/core";
import { configVariables } from "./variables.ts";

/**
 * Returns the faults of an environment file with their line numbers, without quoting its content; empty if there are none. Accepts
 * everything that node's parseEnv accepts (comments, `export NAME=`, quoted values over several lines). Reports lines that parseEnv would
 * skip or cut silently.
 */
function faultsOfEnvFile(text: string): string[] {
  const lines = text.replaceAll("\r", "").split("\n");
  const faults: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (/^[ \t]*(#|$)/.test(line)) continue;
    const value = /^[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*[ \t]*=(.*)$/.exec(line)?.[1];
    const number = index + 1;
    if (value === undefined) {
      faults.push(`line ${number} is not of the form NAME=value`);
      continue;
    }
    const quoted = quotedValue(value, lines.slice(number));
    const fault = quoted === undefined ? faultOfPlain(value) : quoted.fault;
    if (fault !== "") faults.push(`line ${number} ${fault}`);
    index += quoted?.furtherLines ?? 0;
  }
  return faults;
}

/**
 * Returns the fault of a value in quotes (an empty text if it has none), and the number of further lines that the value contains. Returns
 * undefined if the value is not in quotes. If the closing quote is missing, no further lines are taken, so that the caller checks the
 * following lines one by one.
 */
function quotedValue(value: string, following: readonly string[]): { fault: string; furtherLines: number } | undefined {
  const [, quote] = /^[ \t]*(["'`])/.exec(value) ?? [];
  if (quote === undefined) return undefined;
  const first = value.trimStart().slice(1);
  const text = [first, ...following].join("\n");
  const end = text.indexOf(quote);
  if (end < 0) return { fault: "opens a quote that is not closed", furtherLines: 0 };
  const furtherLines = text.slice(0, end).split("\n").length - 1;
  const [rest = ""] = text.slice(end + 1).split("\n");
  return { fault: /^[ \t]*(#.*)?$/.test(rest) ? "" : "has text after the closing quote", furtherLines };
}

function faultOfPlain(value: string): string {
  // Node's function parseEnv would take the next line as the value.
  if (/^[ \t]+$/.test(value)) return "has only blanks as its value; end the line after the =";
  // Node's function parseEnv cuts a value at a `#` that is not in quotes.
  if (/^[^#]*[^\s#]#/.test(value)) return "has a # within its value; put the value in quotes";
  return /["'`]\s*(\s#.*)?$/.test(value.replace(/\s#.*$/, "")) ? "closes a quote that was not opened" : "";
}

/** A variable with an invalid value. The message contains the value (unless it is a secret) and the correct form. */
export type ConfigFault = { readonly variable: string; readonly message: string };

/** Error for an invalid configuration. `faults` contains every fault; the message lists them. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(
      `the configuration has ${faults.length === 1 ? "1 problem" : `${faults.length} problems`}:\n${faults.map(formatFault).join("\n")}`,
    );
    this.faults = faults;
  }
}

function formatFault({ variable, message }: ConfigFault): string {
  return `  ${variable}: ${message}`;
}

/** A variable for webhook secrets that a reload changed. `secrets`: the number of secrets in its new value. */
type SecretChange = { readonly variable: string; readonly secrets: number };

/** Result of reading SVC_ENV_FILE again. It contains names of variables, never their values. */
type Reload = {
  /** Variables of webhook secrets that changed. */
  readonly changed: readonly SecretChange[];
  /**
   * Variables whose values in the file SVC_ENV_FILE differ from the values with which the server started. The new values take effect after
   * a restart.
   */
  readonly waiting: readonly string[];
};

/** Variables of the process and of SVC_ENV_FILE. If both set a variable, the value of the process is used. */
export type Environment = {
  /** Returns the current value of a variable, or undefined if it is not set or empty. */
  get(name: string): string | undefined;
  /** Returns the names of all set variables: those of the process environment and those of the file SVC_ENV_FILE. */
  names(): string[];
  /** Returns the variables of SVC_ENV_FILE that have no effect, because the environment of the process also sets them. */
  overridden(): string[];
  /**
   * Reads SVC_ENV_FILE again and returns the changes; undefined if the server has no such file. If the file cannot be read or is malformed,
   * keeps the old values and throws ConfigError.
   */
  reload(): Reload | undefined;
};

/**
 * Returns the variables of the process and of the file in SVC_ENV_FILE, if set. Throws ConfigError if the file cannot be read or is
 * malformed. The variables of the process are copied, because each read of process.env is a system call and svc reads secrets for every
 * webhook post.
 */
export function openEnvironment(variables: Variables = { ...process.env }): Environment {
  const file = variables["SVC_ENV_FILE"] || undefined;
  const atStart = readVariables(file);
  let fromFile = atStart;
  const get = (name: string) => variables[name] || fromFile[name] || undefined;
  return {
    get,
    names: () => [...new Set([...Object.keys(variables), ...Object.keys(fromFile)])],
    overridden: () =>
      Object.keys(fromFile)
        .filter((name) => variables[name])
        .sort(),
    reload() {
      if (file === undefined) return undefined;
      const before = fromFile;
      fromFile = readVariables(file);
      const differs = (from: Variables) => (name: string) => (variables[name] || from[name] || undefined) !== get(name);
      const named = Object.keys({ ...atStart, ...before, ...fromFile }).sort();
      const changed = named.filter((name) => name.startsWith(secretPrefix)).filter(differs(before));
      return {
        changed: changed.map((variable) => ({ variable, secrets: secretsIn(get(variable)) })),
        waiting: named.filter((name) => startVariables.includes(name)).filter(differs(atStart)),
      };
    },
  };
}

/**
 * Sets the variables of OpenTelemetry that SVC_ENV_FILE contains in the environment of the process, because the libraries of OpenTelemetry
 * read them there. Variables that are set there already keep their values.
 */
export function exportOpenTelemetryVariables({ names, get }: Environment): void {
  for (const name of names()) if (name.startsWith("OTEL_") && !process.env[name]) process.env[name] = get(name);
}

/** Prefix of the variables for webhook secrets. */
export const secretPrefix = "SVC_WEBHOOK_SECRET_";

type Variables = Readonly<Record<string, string | undefined>>;

/** Variables that are read only when the server starts. */
const startVariables: readonly string[] = configVariables
  .map(({ name }) => name)
  .filter((name) => name !== "SVC_EMBEDDINGS_KEY" && name !== "SVC_OIDC_CLIENT_SECRET");

function secretsIn(text = ""): number {
  return text.split(/\s+/).filter(Boolean).length;
}

function readVariables(file: string | undefined): Variables {
  if (file === undefined) return {};
  const text = readText(file);
  const faults = faultsOfEnvFile(text);
  if (faults.length === 0) return parseEnv(text);
  throw new ConfigError(faults.map((fault) => ({ variable: "SVC_ENV_FILE", message: `"${file}": ${fault}` })));
}

function readText(file: string): string {
  try {
    return requireText(readFileSync(file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const message = `"${file}" cannot be read (${code}); name a readable file of NAME=value lines`;
    throw new ConfigError([{ variable: "SVC_ENV_FILE", message }]);
  }
}
