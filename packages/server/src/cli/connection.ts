import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSvcAdminClient, createSvcClient, type SvcAdminClient, type SvcClient } from "@svc/sdk";
import type { Command } from "commander";
import { clientConfig } from "./client-config.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandError } from "./command-error.ts";

const defaultUrl = "http://127.0.0.1:8080";

/** Options of every command that calls the service. */
export type ServiceOptions = { url?: string };

/** Options of the commands of a project. */
export type ProjectOptions = ServiceOptions & { apiKey?: string };

/** Options of the administrator's commands. */
export type AdminOptions = ServiceOptions & { adminToken?: string };

/** Adds `--url` to a command. */
export function addServiceOptions(command: Command): Command {
  return command.option("--url <url>", `address of the service (default: SVC_URL, else ${defaultUrl})`);
}

/** Adds the options of a project's command. */
export function addProjectOptions(command: Command): Command {
  const help = "key of the project (default: SVC_API_KEY, else the first key in the data folder of a local service)";
  return addServiceOptions(command).option("--api-key <key>", help);
}

/** Adds the options of an administrator's command. */
export function addAdminOptions(command: Command): Command {
  const help = "the deployment's administrator token (default: SVC_ADMIN_TOKEN)";
  return addServiceOptions(command).option("--admin-token <token>", help);
}

/** Address of the service that a command speaks to, without a slash at its end. Throws CommandError. */
export function serviceUrl({ url }: ServiceOptions, { environment }: CommandContext): string {
  const text = (url ?? environment.get("SVC_URL") ?? defaultUrl).trim();
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text.replace(/\/+$/, "");
  throw new CommandError(`the address ${JSON.stringify(text)} is no http or https URL; an example is ${defaultUrl}`);
}

/** A client of the project whose key the options, the environment or the data folder name. Rejects with CommandError. */
export async function connectProject(options: ProjectOptions, context: CommandContext): Promise<SvcClient> {
  const baseUrl = serviceUrl(options, context);
  const apiKey = options.apiKey ?? context.environment.get("SVC_API_KEY") ?? (await firstKey(context));
  return createSvcClient({ baseUrl, apiKey: apiKey.trim() });
}

/** A client of the administrator. Throws CommandError without a token. */
export function connectAdmin(options: AdminOptions, context: CommandContext): SvcAdminClient {
  const baseUrl = serviceUrl(options, context);
  const adminToken = options.adminToken ?? context.environment.get("SVC_ADMIN_TOKEN");
  if (adminToken !== undefined) return createSvcAdminClient({ baseUrl, adminToken: adminToken.trim() });
  throw new CommandError(
    "this needs the administrator token: set SVC_ADMIN_TOKEN, here and for the service, to at least 32 characters, or give --admin-token",
  );
}

async function firstKey(context: CommandContext): Promise<string> {
  const { dataDir } = await clientConfig(context);
  const file = join(dataDir, "first-key");
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CommandError(
      `no API key: give --api-key, set SVC_API_KEY, or start a local service once (it writes ${file})`,
    );
  }
}
