import { ConnectedAccountSchema } from "@svc/gen/connections";
import type { ConnectedAccount } from "@svc/sdk";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";
import { credentialText } from "./credential-text.ts";

type ListOptions = ProjectOptions & JsonOption & { toolkit?: string; entity?: string; state?: string; limit: number };

const states = ["pending", "active", "expired", "superseded", "revoked"];

/** Adds `svc connections list`. */
export function addConnectionList(connections: Command, context: CommandContext): void {
  const list = connections
    .command("list", { isDefault: true })
    .description("list the project's accounts in every state, newest first")
    .option("--toolkit <slug>", "only accounts of this toolkit")
    .option("--entity <id>", "only accounts of this entity")
    .addOption(new Option("--state <state>", "only accounts in this state").choices(states))
    .option("--limit <count>", "most accounts to list", parseCount, 100)
    .action((options: ListOptions) => listAccounts(options, context));
  addExamples(addProjectOptions(addJson(list, "the accounts as a JSON list")), [
    "svc connections list",
    "svc connections list --toolkit calendar --state active",
  ]);
}

async function listAccounts(options: ListOptions, context: CommandContext): Promise<void> {
  const { connections } = await openProjectClient(options, context);
  const { toolkit: toolkitSlug = "", entity: entityId = "", state = "", limit } = options;
  const found = await collectPages(async (pageToken) => {
    const request = { toolkitSlug, entityId, state, pageSize: Math.min(limit, 500), pageToken };
    const { accounts: items, nextPageToken } = await connections.listConnections(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(ConnectedAccountSchema, found));
  const header = ["ID", "TOOLKIT", "ENTITY", "SCHEME", "STATE", "CREDENTIAL", "CONNECTED", "LAST ERROR"];
  for (const line of tableLines(header, found.map(accountRow))) context.print(line);
}

function accountRow(account: ConnectedAccount): string[] {
  const { id, toolkitSlug, entityId, scheme, state, createdAt, lastError } = account;
  const credential = credentialText(account);
  // The project's own credential belongs to no entity.
  return [id, toolkitSlug, entityId || "-", scheme, state, credential, timeText(createdAt), lastError || "-"];
}
