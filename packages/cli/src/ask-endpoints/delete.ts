import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";

/** Adds `svc ask-endpoints delete`. */
export function addAskEndpointDelete(endpoints: Command, context: CommandContext): void {
  const remove = endpoints
    .command("delete")
    .description("delete an ask endpoint and end its pending deliveries; the questions stay answerable")
    .argument("<id>", "id of the ask endpoint, aep_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { jobs } = await openProjectClient(options, context);
      await jobs.deleteAskEndpoint({ id });
      context.print(options.json ? JSON.stringify({ deleted: id }) : `${id} is deleted`);
    });
  addExamples(addProjectOptions(addJson(remove, "the id as JSON")), [
    "svc ask-endpoints delete aep_01h455vb4pex5vsknk084sn02q",
  ]);
}
