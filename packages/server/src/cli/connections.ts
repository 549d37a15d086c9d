import { toJson } from "@bufbuild/protobuf";
import { ConnectedAccountSchema } from "@svc/gen/connections";
import type { ConnectedAccount } from "@svc/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { jsonListText, tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";

type ListOptions = ProjectOptions & {
  toolkit?: string;
  entity?: string;
  state?: string;
  limit: number;
  json?: true;
};

const states = ["pending", "active", "expired", "superseded", "revoked"];

/** Adds `svc connections list|show|delete`. */
export function addConnectionsCommand(program: Command, context: CommandContext): void {
  const connections = program.command("connections").description("list, show and delete connected accounts");
  addExamples(connections, ["svc connections", "svc connections list --entity ada"]);
  addList(connections, context);
  addShow(connections, context);
  addDelete(connections, context);
}

function addList(connections: Command, context: CommandContext): void {
  const list = connections
    .command("list", { isDefault: true })
    .description("list the project's accounts in every state, newest first")
    .option("--toolkit <slug>", "only accounts of this toolkit")
    .option("--entity <id>", "only accounts of this entity")
    .addOption(new Option("--state <state>", "only accounts in this state").choices(states))
    .option("--limit <count>", "most accounts to list", parseCount, 100)
    .option("--json", "print the accounts as a JSON list")
    .action((options: ListOptions) => listAccounts(options, context));
  addExamples(addProjectOptions(list), [
    "svc connections list",
    "svc connections list --toolkit calendar --state active",
  ]);
}

async function listAccounts(options: ListOptions, context: CommandContext): Promise<void> {
  const { connections } = await connectProject(options, context);
  const { toolkit: toolkitSlug = "", entity: entityId = "", state = "", limit } = options;
  const found = await collectPages(async (pageToken) => {
    const request = { toolkitSlug, entityId, state, pageSize: Math.min(limit, 500), pageToken };
    const { accounts: items, nextPageToken } = await connections.listConnections(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(jsonListText(ConnectedAccountSchema, found));
  const header = ["ID", "TOOLKIT", "ENTITY", "SCHEME", "STATE", "CONNECTED", "LAST ERROR"];
  for (const line of tableLines(header, found.map(accountRow))) context.print(line);
}

function accountRow({ id, toolkitSlug, entityId, scheme, state, createdAt, lastError }: ConnectedAccount): string[] {
  // The project's own credential belongs to no entity.
  return [id, toolkitSlug, entityId || "-", scheme, state, timeText(createdAt), lastError || "-"];
}

function addShow(connections: Command, context: CommandContext): void {
  const show = connections
    .command("show")
    .description("show one account with its variables, scopes and references, as JSON; credentials are never shown")
    .argument("<id>", "id of the account, acc_…")
    .action(async (id: string, options: ProjectOptions) => {
      const { connections: client } = await connectProject(options, context);
      const { account } = await client.getConnection({ id });
      if (account === undefined) return;
      const message = toJson(ConnectedAccountSchema, account, { alwaysEmitImplicit: true });
      context.print(JSON.stringify(message, undefined, 2));
    });
  addExamples(addProjectOptions(show), ["svc connections show acc_01h455vb4pex5vsknk084sn02q"]);
}

function addDelete(connections: Command, context: CommandContext): void {
  const remove = connections
    .command("delete")
    .description("revoke an account for good and erase its credentials")
    .argument("<id>", "id of the account, acc_…")
    .action(async (id: string, options: ProjectOptions) => {
      const { connections: client } = await connectProject(options, context);
      await client.deleteConnection({ id });
      context.print(`${id} is revoked; its credentials are erased`);
    });
  addExamples(addProjectOptions(remove), ["svc connections delete acc_01h455vb4pex5vsknk084sn02q"]);
}

function parseCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw new InvalidArgumentError("expected a whole number from 1 to 999999");
}
