import { ReplaySchema } from "@svc/gen/triggers";
import type { Replay } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";
import { progressText, replayStateText } from "./text.ts";

type ListOptions = ProjectOptions & JsonOption & { limit: number };

/** Adds `svc replays list`. */
export function addReplayList(replays: Command, context: CommandContext): void {
  const list = replays
    .command("list", { isDefault: true })
    .description("list the project's replays, newest first")
    .option("--limit <count>", "most replays to list", parseCount, 100)
    .action(async (options: ListOptions) => {
      const { triggers } = await openProjectClient(options, context);
      const found = await collectPages(async (pageToken) => {
        const request = { pageSize: Math.min(options.limit, 500), pageToken };
        const { replays: items, nextPageToken } = await triggers.listReplays(request);
        return { items, nextPageToken };
      }, options.limit);
      if (options.json) return context.print(messageListText(ReplaySchema, found));
      const header = ["STARTED", "ID", "QUEUED", "PACE", "SINCE", "STATE"];
      for (const line of tableLines(header, found.map(replayRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the replays as a JSON list")), [
    "svc replays list",
    "svc replays list --limit 5",
  ]);
}

function replayRow(replay: Replay): string[] {
  const { id, createdAt, since, perSecond } = replay;
  return [timeText(createdAt), id, progressText(replay), `${perSecond}/s`, timeText(since), replayStateText(replay)];
}
