import { StandingProgramSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { programStateText } from "./text.ts";

/** Adds `svc standing pause`. */
export function addStandingPause(standing: Command, context: CommandContext): void {
  const pause = standing
    .command("pause")
    .description("let a standing program start nothing until it is resumed; its jobs go on")
    .argument("<program>", "its slug or its id, stp_…")
    .option("--cancel-running", "cancel its jobs under way as well")
    .action(async (id: string, options: ProjectOptions & JsonOption & { cancelRunning?: true }) => {
      const { standing: client } = await openProjectClient(options, context);
      const request = { id, cancelRunning: options.cancelRunning ?? false };
      const { standingProgram: program } = await client.pauseStandingProgram(request);
      if (program === undefined) return;
      const text = `${program.slug} is ${programStateText(program)}`;
      context.print(options.json ? messageText(StandingProgramSchema, program) : text);
    });
  addExamples(addProjectOptions(addJson(pause, "the program as JSON")), ["svc standing pause morning-report"]);
}
