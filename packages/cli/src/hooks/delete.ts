import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";

/** Adds `svc hooks delete`. */
export function addHookDelete(hooks: Command, context: CommandContext): void {
  const remove = hooks
    .command("delete")
    .description("delete a hook; calls go on without it")
    .argument("<id>", "id of the hook, hok_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { tools } = await openProjectClient(options, context);
      await tools.deleteHook({ id });
      context.print(options.json ? JSON.stringify({ deleted: id }) : `${id} is deleted`);
    });
  addExamples(addProjectOptions(addJson(remove, "the id as JSON")), [
    "svc hooks delete hok_01h455vb4pex5vsknk084sn02q",
  ]);
}
