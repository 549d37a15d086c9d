import { StandingProgramSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { sendDefinition } from "./definition-file.ts";
import { pendingText } from "./text.ts";

type UpdateOptions = ProjectOptions & JsonOption & { expect?: number; simulate?: true };

/** Adds `svc standing update`. */
export function addStandingUpdate(standing: Command, context: CommandContext): void {
  const update = standing
    .command("update")
    .description("make the next version of a standing program; runs that wait keep theirs")
    .argument("<program>", "its slug or its id, stp_…")
    .argument("<definition>", "file of the definition, or - for standard input")
    .option("--expect <version>", "refuse when this is not the version that is there", parseCount)
    .option("--simulate", "where people have to approve it: simulate it first, so that they see what it would do")
    .action(async (id: string, file: string, options: UpdateOptions) => {
      const client = await openProjectClient(options, context);
      const { answer, notes } = await sendDefinition(file, context, (definitionJson) =>
        client.standing.updateStandingProgram({
          ...{ id, definitionJson },
          expectedVersion: options.expect ?? 0,
          simulate: options.simulate ?? false,
        }),
      );
      const { standingProgram: program } = answer;
      if (program === undefined) return;
      context.print(
        options.json ? messageText(StandingProgramSchema, program) : `${program.id} is of version ${program.version}`,
      );
      const pending = pendingText(program);
      if (pending !== undefined) context.note(pending);
      for (const line of notes) context.note(line);
    });
  addExamples(addProjectOptions(addJson(update, "the program as JSON")), [
    "svc standing update morning-report morning-report.json",
    "svc standing update morning-report morning-report.json --expect 3",
  ]);
}
