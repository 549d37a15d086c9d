import { StandingProgramSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { pendingText, programStateText } from "./text.ts";

/** Adds `svc standing resume`. */
export function addStandingResume(standing: Command, context: CommandContext): void {
  const resume = standing
    .command("resume")
    .description("let a paused standing program go on from now; what passed meanwhile is not made up for")
    .argument("<program>", "its slug or its id, stp_…")
    .option("--adopt", "go on with what its tools are today, as a new version")
    .action(async (id: string, options: ProjectOptions & JsonOption & { adopt?: true }) => {
      const { standing: client } = await openProjectClient(options, context);
      const { standingProgram: program } = await client.resumeStandingProgram({ id, adopt: options.adopt ?? false });
      if (program === undefined) return;
      const text = `${program.slug} is ${programStateText(program)}`;
      context.print(options.json ? messageText(StandingProgramSchema, program) : text);
      const pending = pendingText(program);
      if (pending !== undefined) context.note(pending);
    });
  addExamples(addProjectOptions(addJson(resume, "the program as JSON")), [
    "svc standing resume morning-report",
    "svc standing resume morning-report --adopt",
  ]);
}
