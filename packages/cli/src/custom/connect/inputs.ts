import type { AccountVariableSpec, ToolkitConnectSpec } from "@svc/sdk";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { readSecret } from "../../command/input.ts";

/** The options of `svc connect` about the account. */
export type ConnectInputs = {
  readonly scheme?: string;
  readonly var: Readonly<Record<string, string>>;
  readonly username?: string;
  readonly keyStdin?: true;
  readonly keyEnv?: string;
};

/** A credential in the form of InitiateConnection. */
export type GivenCredential = { apiKey?: string; basic?: { username: string; password: string } };

/**
 * Returns the auth scheme: the requested scheme, the only scheme, or the one chosen at the terminal. Returns "" if the toolkit declares
 * none for an entity (the server then refuses). Rejects with CommandError if there are several schemes and no terminal.
 */
export async function chooseScheme(
  { scheme }: ConnectInputs,
  { toolkitSlug, authSchemes }: ToolkitConnectSpec,
  { terminal }: CommandContext,
): Promise<string> {
  if (scheme !== undefined) return scheme;
  const declared = authSchemes.map(({ type }) => type).filter((type) => type !== "client_credentials");
  if (declared.length === 1) return declared[0] ?? "";
  if (declared.length === 0) return "";
  if (terminal === undefined) {
    throw new CommandError(
      `${toolkitSlug} can be connected in several ways: give --scheme ${declared.join(" or --scheme ")}`,
    );
  }
  return (await terminal.ask(`Scheme (${declared.join(", ")}): `)).trim();
}

/**
 * Returns the account variables. Missing ones are asked for at the terminal. Without a terminal, rejects with a CommandError that names
 * them all.
 */
export async function fillVariables(
  inputs: Pick<ConnectInputs, "var">,
  { toolkitSlug, accountVariables }: ToolkitConnectSpec,
  { terminal }: CommandContext,
): Promise<Record<string, string>> {
  const filled = { ...inputs.var };
  const missing = accountVariables.filter(({ name }) => !Object.hasOwn(filled, name));
  if (terminal === undefined && missing.length > 0) {
    throw new CommandError(`${toolkitSlug} also needs ${missing.map(optionFor).join("; ")}`);
  }
  for (const variable of missing) {
    if (terminal === undefined) break;
    filled[variable.name] = (await terminal.ask(questionFor(variable))).trim();
  }
  return filled;
}

function optionFor({ name, description, example }: AccountVariableSpec): string {
  return `--var ${name}=${example === "" ? "…" : example} (${description.trim()})`;
}

function questionFor({ name, description, example }: AccountVariableSpec): string {
  return `${name}: ${description.trim()}${example === "" ? "" : ` (such as ${example})`}: `;
}

/**
 * Returns the credential of a scheme: from standard input, from a variable, or typed at the terminal without being shown. Returns an empty
 * credential if there is none; the server refuses it, except in the sandbox. Rejects with CommandError.
 */
export async function readCredential(
  scheme: string,
  inputs: ConnectInputs,
  context: CommandContext,
): Promise<GivenCredential> {
  const source = { fromInput: inputs.keyStdin, variable: inputs.keyEnv, option: "--key-env" };
  if (scheme === "api_key") return { apiKey: await readSecret("Key", source, context) };
  if (scheme !== "basic") return refuseSecret(scheme, inputs);
  const username = inputs.username ?? (await context.terminal?.ask("User name: ")) ?? "";
  return { basic: { username, password: await readSecret("Password", source, context) } };
}

function refuseSecret(scheme: string, { keyStdin, keyEnv }: ConnectInputs): GivenCredential {
  // Without a scheme, the toolkit declares several schemes and the server's refusal lists them.
  if (scheme === "" || (keyStdin === undefined && keyEnv === undefined)) return {};
  throw new CommandError(`the scheme ${scheme} has no key: leave out --key-stdin and --key-env`);
}
