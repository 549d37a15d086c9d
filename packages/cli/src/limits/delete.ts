import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { plainText } from "../text/plain.ts";

/** Adds `svc limits delete`. */
export function addLimitDelete(limits: Command, context: CommandContext): void {
  const remove = limits
    .command("delete")
    .description("delete a call limit; what waits for it goes on")
    .argument("<name>", "name of the limit")
    .action(async (name: string, options: ProjectOptions & JsonOption) => {
      const { tools } = await openProjectClient(options, context);
      await tools.deleteCallLimit({ name });
      context.print(options.json ? JSON.stringify({ deleted: name }) : `${plainText(name)} is deleted`);
    });
  addExamples(addProjectOptions(addJson(remove, "the name as JSON")), ["svc limits delete calendar"]);
}
