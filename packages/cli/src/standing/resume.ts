import { StandingProgramSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { programStateText } from "./text.ts";

/** Adds `svc standing resume`. */
export function addStandingResume(standing: Command, context: CommandContext): void {
  const resume = standing
    .command("resume")
    .description("let a paused standing program go on from now; what passed meanwhile is not made up for")
    .argument("<program>", "its slug or its id, stp_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { standing: client } = await openProjectClient(options, context);
      const { standingProgram: program } = await client.resumeStandingProgram({ id });
      if (program === undefined) return;
      const text = `${program.slug} is ${programStateText(program)}`;
      context.print(options.json ? messageText(StandingProgramSchema, program) : text);
    });
  addExamples(addProjectOptions(addJson(resume, "the program as JSON")), ["svc standing resume morning-report"]);
}
