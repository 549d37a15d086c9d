import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { plainText } from "../text/plain.ts";

/** Adds `svc secrets delete`. */
export function addSecretDelete(secrets: Command, context: CommandContext): void {
  const remove = secrets
    .command("delete")
    .description("erase a secret; what jobs send with it from then on fails")
    .argument("<name>", "name of the secret")
    .action(async (name: string, options: ProjectOptions & JsonOption) => {
      const client = await openProjectClient(options, context);
      await client.secrets.deleteSecret({ name });
      context.print(options.json ? JSON.stringify({ deleted: name }) : `${plainText(name)} is erased`);
    });
  addExamples(addProjectOptions(addJson(remove, "the name as JSON")), ["svc secrets delete billing_token"]);
}
