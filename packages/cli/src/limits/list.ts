import { type CallLimit, CallLimitSchema } from "@svc/gen/tools";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines } from "../text/table.ts";
import { boundsText } from "./bounds.ts";

/** Adds `svc limits list`. */
export function addLimitList(limits: Command, context: CommandContext): void {
  const list = limits
    .command("list", { isDefault: true })
    .description("list the project's call limits by name")
    .action(async (options: ProjectOptions & JsonOption) => {
      const { tools } = await openProjectClient(options, context);
      const { limits: found } = await tools.listCallLimits({});
      if (options.json) return context.print(messageListText(CallLimitSchema, found));
      for (const line of tableLines(["NAME", "TOOLKIT", "HOLDS CALLS TO", "KEY"], found.map(limitRow))) {
        context.print(line);
      }
    });
  addExamples(addProjectOptions(addJson(list, "the limits as a JSON list")), ["svc limits list"]);
}

function limitRow(limit: CallLimit): string[] {
  const { name, toolkitSlug, keyExpression } = limit;
  return [name, toolkitSlug || "-", boundsText(limit), plainText(keyExpression) || "-"];
}
