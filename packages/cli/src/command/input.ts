import { readFile } from "node:fs/promises";
import { readForeignText, requireText } from "@svc/core";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./error.ts";

/**
 * Returns the text of a file, or of standard input if `file` is `-`. `what`: the option or argument that named the file, for errors.
 * Rejects with CommandError if the text cannot be read.
 */
export function readText(file: string, what: string, context: CommandContext): Promise<string> {
  return readInput(file, what, context, requireText);
}

/**
 * Returns the bytes of a file, or of standard input if `file` is `-`. `what`: the option or argument that named the file, for errors.
 * Rejects with CommandError if the bytes cannot be read.
 */
export function readBytes(file: string, what: string, context: CommandContext): Promise<Buffer> {
  return readInput(file, what, context, (bytes) => bytes);
}

async function readInput<Content>(
  file: string,
  what: string,
  context: CommandContext,
  contentOf: (bytes: Buffer) => Content,
): Promise<Content> {
  try {
    return contentOf(file === "-" ? await context.readInput() : await readFile(file));
  } catch (err) {
    throw new CommandError(`${what} cannot be read: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/**
 * Returns the JSON text of an option. The option's value is the JSON text itself, `@file` for the text of a file, or `@-` for standard
 * input. Rejects with CommandError if the text is not JSON.
 */
export async function readJsonOption(option: string, text: string, context: CommandContext): Promise<string> {
  const json = text.startsWith("@") ? await readText(text.slice(1), `${option} ${text}`, context) : text;
  try {
    JSON.parse(json);
    return json;
  } catch (err) {
    throw new CommandError(`${option} is not JSON: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/** The place from which a command reads a secret. If the user names no place, the command asks for the secret at the terminal. */
type SecretSource = {
  readonly fromInput: true | undefined;
  /** Name of the environment variable that contains the secret. Undefined if the user named no variable. */
  readonly variable: string | undefined;
  /** The command line option in which the user named the environment variable. Error texts mention this option. */
  readonly option: string;
};

/**
 * Returns a secret from standard input, from an environment variable, or from the terminal. No option takes the secret itself, because the
 * secret would stay in the shell's history and in the list of processes. Returns "" if the user named no source and there is no terminal.
 * Rejects with CommandError if the variable is not set.
 */
export async function readSecret(
  what: string,
  { fromInput, variable, option }: SecretSource,
  { environment, terminal, readInput }: CommandContext,
): Promise<string> {
  if (fromInput) {
    const read = readForeignText(await readInput());
    // The error text must not contain what was read, because that may be a part of the secret.
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

/** The options of a declared command that name the source of a secret. */
export const secretOptions = [
  ["--secret-stdin", "read the value from standard input"],
  ["--secret-env <name>", "read it from this environment variable"],
] as const;

/** Help text for commands that have the options `--secret-stdin` and `--secret-env`. */
export const secretRemark =
  "\nNo option takes the value itself. At a terminal the command asks for it without showing it.";

/**
 * Returns a secret from the source that the command's options name: standard input, an environment variable, or the terminal. Rejects with
 * CommandError if the named environment variable is not set.
 */
export function readSecretOption(
  what: string,
  values: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<string> {
  const { secretStdin, secretEnv } = values as { secretStdin?: true; secretEnv?: string };
  return readSecret(what, { fromInput: secretStdin, variable: secretEnv, option: "--secret-env" }, context);
}
