import type { AccountVariableSpec, ToolkitConnectSpec } from "@svc/sdk";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { readSecret } from "../../command/input.ts";
import { collectPair } from "../../command/options.ts";

/** The option `--var`, which gives a value of a variable of the toolkit. */
export const variableOption = [
  "--var <name=value>",
  "a variable of the toolkit, such as a host name; can be repeated",
  { default: {}, defaultText: "asked at a terminal", parse: collectPair },
] as const;

/** The options of the commands that connect an account: how it signs in, its variables, and where its key is read. */
export const accountOptions = [
  ["--scheme <scheme>", "oauth2, api_key, basic or none (default: the only one that the toolkit declares)"],
  variableOption,
  ["--username <name>", "user name, for the scheme basic"],
  ["--key-stdin", "read the key, or the password of basic, from standard input"],
  ["--key-env <name>", "read it from this environment variable"],
  ["--no-open", "print the consent page for oauth2 instead of opening a browser"],
] as const;

/** The options of `svc connect` that describe the new account. */
export type ConnectInputs = {
  readonly scheme?: string;
  readonly var: Readonly<Record<string, string>>;
  readonly username?: string;
  readonly keyStdin?: true;
  readonly keyEnv?: string;
};

/** A credential in the form that InitiateConnection accepts. */
export type GivenCredential = { apiKey?: string; basic?: { username: string; password: string } };

/**
 * Returns the authentication scheme of the new account: the requested scheme, the only scheme of the app's toolkit, or the scheme that the
 * user chooses at the terminal. Returns "" if the toolkit declares no scheme for accounts of an entity (customer or user); the server then
 * refuses the call. Rejects with CommandError if there are several schemes and no terminal.
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
 * Returns the values of the account variables, which the app needs in addition to the credential (for example a subdomain). Asks for
 * missing values at the terminal. If there is no terminal, rejects with a CommandError that names all missing variables.
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
 * Returns the credential for a scheme. It comes from standard input, from an environment variable, or from the terminal (the typed text is
 * not shown). If the user gives none, returns an empty credential, which the server refuses except in the sandbox. Rejects with
 * CommandError.
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
  // Without a scheme, no credential is sent: the toolkit declares several schemes and the user named none. The server then refuses the call
  // and lists the schemes.
  if (scheme === "" || (keyStdin === undefined && keyEnv === undefined)) return {};
  throw new CommandError(`the scheme ${scheme} has no key: leave out --key-stdin and --key-env`);
}
