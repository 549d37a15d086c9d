import { AskEndpointSchema } from "@svc/gen/jobs";
import type { AskEndpoint } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc ask-endpoints list`. */
export function addAskEndpointList(endpoints: Command, context: CommandContext): void {
  const list = endpoints
    .command("list", { isDefault: true })
    .description("list the project's ask endpoints, newest first")
    .action(async (options: ProjectOptions & JsonOption) => {
      const { jobs } = await openProjectClient(options, context);
      const found = await collectPages(async (pageToken) => {
        const page = await jobs.listAskEndpoints({ pageSize: 500, pageToken });
        return { items: page.askEndpoints, nextPageToken: page.nextPageToken };
      });
      if (options.json) return context.print(messageListText(AskEndpointSchema, found));
      for (const line of tableLines(["ID", "STATE", "CREATED", "ENDPOINT", "TELLS"], found.map(endpointRow)))
        context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the ask endpoints as a JSON list")), ["svc ask-endpoints list"]);
}

function endpointRow({ id, active, inactiveReason, createdAt, endpointUrl, eventTypes }: AskEndpoint): string[] {
  const tells = eventTypes.length === 0 ? "ask_raised" : eventTypes.map(plainText).join(", ");
  return [id, active ? "active" : inactiveReason, timeText(createdAt), plainText(endpointUrl), tells];
}
