import { StandingProgramSchema } from "@svc/gen/standing";
import type { StandingProgram } from "@svc/sdk";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";
import { programStateText, runStateText, stateNames, stateOfName } from "./text.ts";

type ListOptions = ProjectOptions & JsonOption & { state?: string; limit: number };

/** Adds `svc standing list`. */
export function addStandingList(standing: Command, context: CommandContext): void {
  const list = standing
    .command("list", { isDefault: true })
    .description("list the project's standing programs, newest first")
    .addOption(new Option("--state <state>", "only programs of this state").choices([...stateNames]))
    .option("--limit <count>", "most programs to list", parseCount, 100)
    .action(async (options: ListOptions) => {
      const { standing: client } = await openProjectClient(options, context);
      const state = stateOfName(options.state ?? "");
      const found = await collectPages(async (pageToken) => {
        const request = { state, pageSize: Math.min(options.limit, 500), pageToken };
        const { standingPrograms: items, nextPageToken } = await client.listStandingPrograms(request);
        return { items, nextPageToken };
      }, options.limit);
      if (options.json) return context.print(messageListText(StandingProgramSchema, found));
      const header = ["SLUG", "ID", "STATE", "NEXT", "LAST RUN", "TITLE"];
      for (const line of tableLines(header, found.map(programRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the programs as a JSON list")), [
    "svc standing list",
    "svc standing list --state paused",
  ]);
}

function programRow(program: StandingProgram): string[] {
  const { slug, id, title, nextTimes, lastRun } = program;
  const last = lastRun === undefined ? "-" : runStateText(lastRun);
  return [slug, id, programStateText(program), timeText(nextTimes[0]), last, plainText(title)];
}
