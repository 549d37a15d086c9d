import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { plainText } from "../text/plain.ts";

/** Adds `svc console end`. */
export function addConsoleEnd(group: Command, context: CommandContext): void {
  const end = group
    .command("end")
    .description("take the seat of the key in use out of a session; its pages stop within two seconds")
    .argument("<id>", "id of the session")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const client = await openProjectClient(options, context);
      await client.console.endSession({ id });
      context.print(options.json ? JSON.stringify({ ended: id }) : `${plainText(id)} is ended`);
    });
  addExamples(addProjectOptions(addJson(end, "the id as JSON")), ["svc console end ses_01h455vb4pex5vsknk084sn02q"]);
}
