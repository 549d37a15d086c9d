import { type Grant, GrantSchema } from "@svc/gen/grants";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { confirmText } from "../text/bound.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = ProjectOptions & JsonOption & { all?: true };

/** Adds `svc grants list`. */
export function addGrantList(grants: Command, context: CommandContext): void {
  const list = grants
    .command("list", { isDefault: true })
    .description("list what people let agents do, newest first")
    .option("--all", "also those that have ended")
    .action(async (options: ListOptions) => {
      const { grants: client } = await openProjectClient(options, context);
      const found = await collectPages(async (pageToken) => {
        const { grants: items, nextPageToken } = await client.listGrants({ pageSize: 500, pageToken });
        return { items, nextPageToken };
      });
      const shown = found.filter(({ active }) => active || options.all);
      if (options.json) return context.print(messageListText(GrantSchema, shown));
      const header = ["ID", "GIVEN", "USED", "ENTITY", "MAY", "TOOLKITS", "CONFIRMED", "AGENT"];
      for (const line of tableLines(header, shown.map(grantRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the grants as a JSON list")), [
    "svc grants list",
    "svc grants list --all",
  ]);
}

function grantRow({
  id,
  createdAt,
  usedAt,
  active,
  entityId,
  accessClasses,
  toolkitSlugs,
  agentTools,
  ...grant
}: Grant): string[] {
  const may = active ? [...accessClasses, ...agentTools].join(",") : "ended";
  const agent = [grant.clientName, grant.clientOrigin].filter(Boolean).map(plainText).join(" at ");
  return [
    ...[id, timeText(createdAt), usedAt === undefined ? "-" : timeText(usedAt)],
    ...[entityId === "" ? "any" : plainText(entityId), may, toolkitSlugs.join(",") || "all"],
    ...[confirmText(grant.confirm), agent],
  ];
}
