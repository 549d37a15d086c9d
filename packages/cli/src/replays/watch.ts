import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { watchNotes, watchReplay } from "./watch-replay.ts";

/** Adds `svc replays watch`. */
export function addReplayWatch(replays: Command, context: CommandContext): void {
  const watch = replays
    .command("watch")
    .description("show a replay's progress to its end: deliveries queued, pace, time left, what it waits for")
    .argument("<id>", "id of the replay, rpl_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      await watchReplay(await openProjectClient(options, context), id, { options, context });
    });
  addProjectOptions(addJson(watch, "the replay as JSON at its end")).addHelpText("after", watchNotes);
  addExamples(watch, ["svc replays watch rpl_01h455vb4pex5vsknk084sn02q"]);
}
