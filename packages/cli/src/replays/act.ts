import { ReplaySchema } from "@svc/gen/triggers";
import type { Replay, SvcClient } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { factLines } from "../text/table.ts";
import { replayFacts } from "./text.ts";

type Act<Given> = (client: SvcClient, id: string, given: Given) => Promise<{ replay?: Replay | undefined }>;

/** Makes a command of a call about one replay: it prints the replay as it is then. `given`: options of its example. */
export function addReplayAct<Given = unknown>(
  command: Command,
  context: CommandContext,
  act: Act<Given>,
  given = "",
): void {
  command
    .argument("<id>", "id of the replay, rpl_…")
    .action(async (id: string, options: ProjectOptions & JsonOption & Given) => {
      const { replay } = await act(await openProjectClient(options, context), id, options);
      if (replay === undefined) return;
      if (options.json) return context.print(messageText(ReplaySchema, replay));
      for (const line of factLines(replayFacts(replay))) context.print(line);
    });
  const example = `svc replays ${command.name()} rpl_01h455vb4pex5vsknk084sn02q ${given}`.trimEnd();
  addExamples(addProjectOptions(addJson(command)), [example]);
}
