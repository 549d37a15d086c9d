import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { plainText } from "../text/plain.ts";

/** Adds `svc contacts delete`. */
export function addContactDelete(contacts: Command, context: CommandContext): void {
  const remove = contacts
    .command("delete")
    .description("delete a contact that no pending question has reached")
    .argument("<principal>", "id of the contact")
    .action(async (principalId: string, options: ProjectOptions & JsonOption) => {
      const { contacts: client } = await openProjectClient(options, context);
      await client.deleteContact({ principalId });
      context.print(options.json ? JSON.stringify({ deleted: principalId }) : `${plainText(principalId)} is deleted`);
    });
  addExamples(addProjectOptions(addJson(remove, "the id as JSON")), ["svc contacts delete lead"]);
}
