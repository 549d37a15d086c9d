import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";

/** Adds `svc connections delete`. */
export function addConnectionDelete(connections: Command, context: CommandContext): void {
  const remove = connections
    .command("delete")
    .description("revoke an account for good and erase its credentials")
    .argument("<id>", "id of the account, acc_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { connections: client } = await openProjectClient(options, context);
      await client.deleteConnection({ id });
      context.print(options.json ? JSON.stringify({ deleted: id }) : `${id} is revoked; its credentials are erased`);
    });
  addExamples(addProjectOptions(addJson(remove, "the id as JSON")), [
    "svc connections delete acc_01h455vb4pex5vsknk084sn02q",
  ]);
}
