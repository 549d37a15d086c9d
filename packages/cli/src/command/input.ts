import { readFile } from "node:fs/promises";
import { readForeignText, requireText } from "@svc/core";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./error.ts";

/** Returns the text of a file, or of standard input for `-`. `what`: the option or argument that named it. Rejects with CommandError. */
export async function readText(file: string, what: string, context: CommandContext): Promise<string> {
  try {
    return requireText(file === "-" ? await context.readInput() : await readFile(file));
  } catch (err) {
    throw new CommandError(`${what} cannot be read: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/** Returns the JSON text of an option: its value, `@file`, or `@-` for standard input. Rejects with CommandError if it is not JSON. */
export async function readJsonOption(option: string, text: string, context: CommandContext): Promise<string> {
  const json = text.startsWith("@") ? await readText(text.slice(1), `${option} ${text}`, context) : text;
  try {
    JSON.parse(json);
    return json;
  } catch (err) {
    throw new CommandError(`${option} is not JSON: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/** The source of a secret. If no source is given, a person is asked at the terminal. */
type SecretSource = {
  readonly fromInput: true | undefined;
  /** Name of a variable. */
  readonly variable: string | undefined;
  /** The option that named the variable, for the refusal. */
  readonly option: string;
};

/**
 * Returns a secret from standard input, a variable, or the terminal. No option takes the secret itself, because it would stay in the
 * shell's history and in the list of processes. Returns "" if there is no source and no terminal. Rejects with CommandError if the variable
 * is not set.
 */
export async function readSecret(
  what: string,
  { fromInput, variable, option }: SecretSource,
  { environment, terminal, readInput }: CommandContext,
): Promise<string> {
  if (fromInput) {
    const read = readForeignText(await readInput());
    // The message does not quote the secret.
    if ("fault" in read) throw new CommandError(`${what}: standard input ${read.fault}`);
    return read.text.replace(/\r?\n$/, "");
  }
  if (variable !== undefined) {
    const text = environment.get(variable);
    if (text !== undefined && text !== "") return text;
    throw new CommandError(`${option} ${variable}: the variable is not set`);
  }
  return (await terminal?.askSecret(`${what} (not shown while you type): `)) ?? "";
}

/** The options for the source of a secret, for a declared command. */
export const secretOptions = [
  ["--secret-stdin", "read the value from standard input"],
  ["--secret-env <name>", "read it from this environment variable"],
] as const;

/** Help for commands with these options. */
export const secretRemark =
  "\nNo option takes the value itself. At a terminal the command asks for it without showing it.";

/** Reads the secret that these options name. Rejects with CommandError if the variable is not set. */
export function readSecretOption(
  what: string,
  values: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<string> {
  const { secretStdin, secretEnv } = values as { secretStdin?: true; secretEnv?: string };
  return readSecret(what, { fromInput: secretStdin, variable: secretEnv, option: "--secret-env" }, context);
}
