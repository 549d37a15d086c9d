import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatValue, requireText } from "@svc/core";
import {
  createSvcAdminClient,
  createSvcClient,
  type Interceptor,
  type Project,
  type SvcAdminClient,
  type SvcClient,
} from "@svc/sdk";
import { type Config, type Environment, isLoopbackUrl, loadConfig } from "@svc/server/config";
import type { Command } from "commander";
import { plainText } from "../text/plain.ts";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./error.ts";
import { namedProfile, profileOf } from "./profiles.ts";

const exampleUrl = "http://127.0.0.1:8080";

type Credentials = { readonly apiKey?: string; readonly adminToken?: string };

/** Options of every command that calls the server. `url`: the address of the server. */
export type AddressedServer = { url?: string };

/** Options of every command that acts in a project: the server's address and the project's API key. */
export type ProjectOptions = AddressedServer & { apiKey?: string };

/** Options of every command that only the administrator may use: the server's address and the administrator's token. */
export type AdminOptions = AddressedServer & { adminToken?: string };

/** Adds the option `--url` to a command, and returns the command. */
export function addServerOptions(command: Command): Command {
  return command.option(
    "--url <url>",
    "address of the service (default: SVC_URL, otherwise http://127.0.0.1 with SVC_PORT or 8080)",
  );
}

/** Adds the options for the server and the API key to a command of a project, and returns the command. */
export function addProjectOptions(command: Command): Command {
  const help =
    "key of the project (default: SVC_API_KEY, otherwise the first key in the data folder of a local service)";
  return addServerOptions(command).option("--api-key <key>", help);
}

/** Adds the options for the server and the administrator's token to a command, and returns the command. */
export function addAdminOptions(command: Command): Command {
  return addAdminToken(addServerOptions(command));
}

/** Adds the options for the server, the API key and the administrator's token to a command, and returns the command. */
export function addBothOptions(command: Command): Command {
  return addAdminToken(addProjectOptions(command));
}

function addAdminToken(command: Command): Command {
  return command.option("--admin-token <token>", "the deployment's administrator token (default: SVC_ADMIN_TOKEN)");
}

/** Returns the address of the server without a slash at the end. Throws CommandError if the address is not valid. */
export function serverUrl(options: AddressedServer & Credentials, context: CommandContext): string {
  const { url } = options;
  const { environment } = context;
  if (url !== undefined && namedProfile(context) !== undefined)
    throw new CommandError("give --url or --profile, not both: a profile has an address", 2);
  return validUrl(url ?? profileOf(context, options)?.url ?? environment.get("SVC_URL") ?? localUrl(environment));
}

/** Returns an address of a service without a slash at the end. Throws CommandError if it is not an http or https URL. */
export function validUrl(given: string): string {
  const text = given.trim();
  const [, port] = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(text) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
    throw new CommandError(`the address ${JSON.stringify(text)} has the port ${port}; expected 1 to 65535`);
  }
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text.replace(/\/+$/, "");
  throw new CommandError(
    `the address ${JSON.stringify(text)} is not an http or https URL; an example is ${exampleUrl}`,
  );
}

function localUrl(environment: Environment): string {
  const port = environment.get("SVC_PORT")?.trim() ?? "";
  if (port === "" || Number(port) === 0) return exampleUrl;
  if (/^\d+$/.test(port) && Number(port) <= 65_535) return `http://127.0.0.1:${Number(port)}`;
  throw new CommandError(
    `SVC_PORT: ${formatValue(port)} is not a port from 1 to 65535; set it, or give the address with --url or SVC_URL`,
  );
}

/**
 * The service that a command called. `url`: its address. `credential`: the source of the credential, in words (the credential itself is not
 * kept). `isAdmin`: true if the credential is the administrator's token.
 */
export type Origin = { readonly url: string; readonly credential: string; readonly isAdmin: boolean };

const origins = new WeakMap<CommandContext, Origin>();

/** Returns the service that this command called last. Returns undefined if the command has called no service. */
export function originOf(context: CommandContext): Origin | undefined {
  return origins.get(context);
}

/**
 * Opens a client for calls in a project. The API key comes from the options, from the environment, or from the data folder of a local
 * service. Rejects with CommandError if there is no key.
 */
export async function openProjectClient(options: ProjectOptions, context: CommandContext): Promise<SvcClient> {
  const baseUrl = serverUrl(options, context);
  const found = keyOfProfile(options, context) ?? (await keyOf(options, context, baseUrl));
  origins.set(context, { url: baseUrl, credential: found.source, isAdmin: false });
  return createSvcClient({ baseUrl, apiKey: found.text.trim(), interceptors: [noteListLimits(context)] });
}

/** Returns the key of the profile that the command uses. Undefined if it uses none, or if the user gave an address or a key. */
function keyOfProfile({ url, apiKey }: ProjectOptions, context: CommandContext): Credential | undefined {
  const profile = url === undefined && apiKey === undefined ? profileOf(context, {}) : undefined;
  return profile && { text: profile.apiKey, source: `the key comes from the profile ${profile.name}` };
}

async function keyOf({ apiKey }: ProjectOptions, context: CommandContext, baseUrl: string): Promise<Credential> {
  const found = given("key", [apiKey, "--api-key"], "SVC_API_KEY", context);
  if (found !== undefined) return found;
  // The first key belongs to a service of this machine. Another service must not get it.
  if (isLoopbackUrl(baseUrl)) return firstKey(context);
  throw new CommandError(`no API key for ${baseUrl}: give --api-key, set SVC_API_KEY, or log in with \`svc login\``);
}

/**
 * Returns an interceptor that prints a note if a list leaves out entries that the key may not read. It prints the note once per command.
 * Without the note, an empty table would look as if there were no entries.
 */
function noteListLimits(context: CommandContext): Interceptor {
  const noted = new Set<string>();
  return (next) => async (request) => {
    const response = await next(request);
    if (response.stream || !("limitedTo" in response.message)) return response;
    const limitedTo = String(response.message.limitedTo);
    if (limitedTo !== "" && !noted.has(limitedTo)) {
      noted.add(limitedTo);
      context.note(`Your key can read only ${plainText(limitedTo)}: the list leaves out everything else.`);
    }
    return response;
  };
}

/** Opens a client for the API calls that only the administrator may make. Throws CommandError if the user gave no administrator's token. */
export function openAdminClient(options: AdminOptions, context: CommandContext): SvcAdminClient {
  const baseUrl = serverUrl(options, context);
  const profile = namedProfile(context);
  if (profile !== undefined && options.adminToken === undefined)
    throw new CommandError(`the profile ${profile} has no administrator token: give --admin-token`);
  const found = given("token", [options.adminToken, "--admin-token"], "SVC_ADMIN_TOKEN", context);
  if (found !== undefined) {
    origins.set(context, { url: baseUrl, credential: found.source, isAdmin: true });
    return createSvcAdminClient({ baseUrl, adminToken: found.text.trim() });
  }
  throw new CommandError(
    "this command needs the administrator token: set SVC_ADMIN_TOKEN, here and for the service, to at least 32 characters, or give --admin-token",
  );
}

/** A credential. `text`: the key or token. `source`: where it comes from, in words. */
type Credential = { text: string; source: string };

function given(
  what: string,
  [value, option]: [string | undefined, string],
  variable: string,
  { environment }: CommandContext,
): Credential | undefined {
  if (value !== undefined) return { text: value, source: `the ${what} comes from ${option}` };
  const text = environment.get(variable);
  return text === undefined ? undefined : { text, source: `the ${what} comes from ${variable}` };
}

async function firstKey(context: CommandContext): Promise<Credential> {
  const { dataDir } = await localConfig(context, "SVC_DATA_DIR");
  const file = join(dataDir, "first-key");
  try {
    return { text: requireText(readFileSync(file)), source: `the key comes from ${file}` };
  } catch {
    throw new CommandError(
      `no API key: give --api-key, set SVC_API_KEY, or create one with \`svc keys create\`; the first start of a new local service writes ${file}, but that of a restored one does not`,
    );
  }
}

/**
 * Returns the id of the project to which the user's key belongs. Calls that list toolkits (apps) and their tools need it to include the
 * private toolkits of the project.
 */
export async function ownProjectId({ identity }: SvcClient): Promise<string> {
  return (await identity.getIdentity({})).projectId;
}

type SharedVariable = "SVC_DATA_DIR" | "SVC_VAULT_KEY" | "SVC_TOOLKITS" | "SVC_DEPLOYMENT";

/**
 * Returns those parts of a local server's configuration that a command needs. Reads only the environment variables `names`. Rejects with
 * ConfigError.
 */
export async function localConfig(
  { environment }: CommandContext,
  ...names: readonly SharedVariable[]
): Promise<Pick<Config, "dataDir" | "vaultKeys" | "toolkitFolders" | "deploymentFile">> {
  return loadConfig({
    ...environment,
    // The shell of a client may lack the server's other variables.
    get: (name) => (names.some((known) => known === name) ? environment.get(name) : undefined),
  });
}

/** Returns all items of a paged list, or only the first `limit` items. Reads one page after the other. */
export async function collectPages<Item>(
  readPage: (pageToken: string) => Promise<{ items: readonly Item[]; nextPageToken: string }>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const found: Item[] = [];
  let pageToken = "";
  do {
    const page = await readPage(pageToken);
    found.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && found.length < limit);
  return found.slice(0, limit);
}

/** Returns the id of a project, which the caller names by its id or its name. Rejects with CommandError if no project has this name. */
export async function findProjectId(client: SvcAdminClient, idOrName: string): Promise<string> {
  return idOrName.startsWith("prj_") ? idOrName : (await findProject(client, idOrName)).id;
}

/** Returns the project with the given id or name. Rejects with CommandError if there is no such project. */
export async function findProject(client: SvcAdminClient, idOrName: string): Promise<Project> {
  const found = await listProjects(client);
  const project = found.find(({ id, name }) => id === idOrName || name === idOrName);
  if (project !== undefined) return project;
  throw new CommandError(`there is no project "${idOrName}"; \`svc projects list\` lists the projects`);
}

/** Returns every project of the deployment, newest first. */
function listProjects({ admin }: SvcAdminClient): Promise<Project[]> {
  return collectPages(async (pageToken) => {
    const { projects, nextPageToken } = await admin.listProjects({ pageSize: 500, pageToken });
    return { items: projects, nextPageToken };
  });
}
