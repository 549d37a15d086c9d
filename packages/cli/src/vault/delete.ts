import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { plainText } from "../text/plain.ts";

/** Adds `svc vault delete`. */
export function addVaultDelete(vault: Command, context: CommandContext): void {
  const remove = vault
    .command("delete")
    .description("erase a secret of the deployment itself")
    .argument("<name>", "name of the secret")
    .action(async (name: string, options: AdminOptions & JsonOption) => {
      await openAdminClient(options, context).admin.deleteDeploymentSecret({ name });
      context.print(options.json ? JSON.stringify({ deleted: name }) : `${plainText(name)} is erased`);
    });
  addExamples(addAdminOptions(addJson(remove, "the name as JSON")), ["svc vault delete embeddings_key"]);
}
