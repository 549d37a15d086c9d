import { type Hook, HookSchema } from "@svc/gen/tools";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc hooks list`. */
export function addHookList(hooks: Command, context: CommandContext): void {
  const list = hooks
    .command("list", { isDefault: true })
    .description("list the project's hooks in the order in which they are asked")
    .action(async (options: ProjectOptions & JsonOption) => {
      const { tools } = await openProjectClient(options, context);
      const { hooks: found } = await tools.listHooks({});
      if (options.json) return context.print(messageListText(HookSchema, found));
      const header = ["ID", "ASKED", "STATE", "TOOLKITS", "CLASSES", "CREATED", "ENDPOINT"];
      for (const line of tableLines(header, found.map(hookRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the hooks as a JSON list")), ["svc hooks list"]);
}

function hookRow({ id, phase, active, toolkitSlugs, accessClasses, createdAt, endpointUrl }: Hook): string[] {
  const scope = [toolkitSlugs.join(",") || "all", accessClasses.join(",") || "all"];
  return [id, phase, active ? "active" : "paused", ...scope, timeText(createdAt), plainText(endpointUrl)];
}
