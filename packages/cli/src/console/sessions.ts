import { type ConsoleSession, ConsoleSessionSchema } from "@svc/gen/console";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc console sessions`. */
export function addConsoleSessions(group: Command, context: CommandContext): void {
  const list = group
    .command("sessions")
    .description("list the browsers that are signed in with the key in use")
    .action(async (options: ProjectOptions & JsonOption) => {
      const client = await openProjectClient(options, context);
      const { sessions } = await client.console.listSessions({});
      if (options.json) return context.print(messageListText(ConsoleSessionSchema, sessions));
      for (const line of tableLines(["ID", "SIGNED IN", "USED", "BROWSER"], sessions.map(sessionRow)))
        context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the sessions as a JSON list")), ["svc console sessions"]);
}

function sessionRow({ id, createdAt, usedAt, userAgent }: ConsoleSession): string[] {
  return [id, timeText(createdAt), timeText(usedAt), plainText(userAgent)];
}
