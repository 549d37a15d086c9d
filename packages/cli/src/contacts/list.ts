import { type Contact, ContactSchema } from "@svc/gen/contacts";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines } from "../text/table.ts";

/** Adds `svc contacts list`. */
export function addContactList(contacts: Command, context: CommandContext): void {
  const list = contacts
    .command("list", { isDefault: true })
    .description("list the project's contacts by their ids")
    .action(async (options: ProjectOptions & JsonOption) => {
      const { contacts: client } = await openProjectClient(options, context);
      const found = await collectPages(async (pageToken) => {
        const { contacts: items, nextPageToken } = await client.listContacts({ pageSize: 500, pageToken });
        return { items, nextPageToken };
      });
      if (options.json) return context.print(messageListText(ContactSchema, found));
      const header = ["PRINCIPAL", "APPROVER", "REACHED BY", "NAME"];
      for (const line of tableLines(header, found.map(contactRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the contacts as a JSON list")), ["svc contacts list"]);
}

function contactRow({ principalId, name, approver, reach }: Contact): string[] {
  const means = reach === undefined ? "-" : `${reach.toolSlug} as ${plainText(reach.entityId)}`;
  return [plainText(principalId), approver ? "yes" : "no", means, plainText(name)];
}
