import { CreateSignInLinkResponseSchema } from "@svc/gen/console";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";

type OpenOptions = ProjectOptions & JsonOption & { print?: boolean };

/** Adds `svc console open`, which `svc console` alone means. */
export function addConsoleOpen(group: Command, context: CommandContext): void {
  const open = group
    .command("open", { isDefault: true })
    .description("open the console with the seat of the key in use, by a link that works once, within ten minutes")
    .option("--print", "print the link in place of opening it")
    .action((options: OpenOptions) => openConsole(options, context));
  addExamples(addProjectOptions(addJson(open, "the link as JSON")), ["svc console open", "svc console open --print"]);
}

async function openConsole(options: OpenOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const answer = await client.console.createSignInLink({});
  if (options.json) return context.print(messageText(CreateSignInLinkResponseSchema, answer));
  const isOpened = options.print !== true && ((await context.terminal?.openPage(answer.url)) ?? false);
  if (isOpened) context.note("The console is opened in the browser.");
  else context.print(answer.url);
}
