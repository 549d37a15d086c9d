import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";

/** Adds `svc standing delete`. */
export function addStandingDelete(standing: Command, context: CommandContext): void {
  const remove = standing
    .command("delete")
    .description("end a standing program for good; its jobs go on and are found by its id")
    .argument("<program>", "its slug or its id, stp_…")
    .option("--cancel-running", "cancel its jobs under way as well")
    .action(async (id: string, options: ProjectOptions & JsonOption & { cancelRunning?: true }) => {
      const { standing: client } = await openProjectClient(options, context);
      await client.deleteStandingProgram({ id, cancelRunning: options.cancelRunning ?? false });
      context.print(options.json ? JSON.stringify({ deleted: id }) : `${id} is deleted`);
    });
  addExamples(addProjectOptions(addJson(remove, "the answer as JSON")), ["svc standing delete morning-report"]);
}
