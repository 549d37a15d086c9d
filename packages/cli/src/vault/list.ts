import { type DeploymentSecret, DeploymentSecretSchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc vault list`. */
export function addVaultList(vault: Command, context: CommandContext): void {
  const list = vault
    .command("list")
    .description("list the names of the secrets that the deployment itself keeps; nobody reads a value back")
    .action(async (options: AdminOptions & JsonOption) => {
      const { secrets } = await openAdminClient(options, context).admin.listDeploymentSecrets({});
      if (options.json) return context.print(messageListText(DeploymentSecretSchema, secrets));
      for (const line of tableLines(["NAME", "CREATED", "VALUE OF"], secrets.map(secretRow))) context.print(line);
    });
  addExamples(addAdminOptions(addJson(list, "the secrets as a JSON list")), ["svc vault list"]);
}

function secretRow({ name, createdAt, updatedAt }: DeploymentSecret): string[] {
  return [name, timeText(createdAt), timeText(updatedAt)];
}
