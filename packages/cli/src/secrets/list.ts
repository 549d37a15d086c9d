import { type Secret, SecretSchema } from "@svc/gen/secrets";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc secrets list`. */
export function addSecretList(secrets: Command, context: CommandContext): void {
  const list = secrets
    .command("list", { isDefault: true })
    .description("list the names of the project's secrets; nobody reads a value back")
    .action(async (options: ProjectOptions & JsonOption) => {
      const client = await openProjectClient(options, context);
      const { secrets: found } = await client.secrets.listSecrets({});
      if (options.json) return context.print(messageListText(SecretSchema, found));
      for (const line of tableLines(["NAME", "CREATED", "VALUE OF"], found.map(secretRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the secrets as a JSON list")), ["svc secrets list"]);
}

function secretRow({ name, createdAt, updatedAt }: Secret): string[] {
  return [name, timeText(createdAt), timeText(updatedAt)];
}
