import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";

/** Adds `svc credentials delete`. */
export function addCredentialDelete(credentials: Command, context: CommandContext): void {
  const remove = credentials
    .command("delete")
    .description("erase the project's own credential of an app")
    .argument("<toolkit>", "slug of the toolkit")
    .action(async (toolkitSlug: string, options: ProjectOptions & JsonOption) => {
      const { connections } = await openProjectClient(options, context);
      await connections.deleteProjectCredential({ toolkitSlug });
      context.print(
        options.json
          ? JSON.stringify({ deleted: toolkitSlug })
          : `the project's own credential of ${toolkitSlug} is erased`,
      );
    });
  addExamples(addProjectOptions(addJson(remove, "the slug as JSON")), ["svc credentials delete my_bank"]);
}
