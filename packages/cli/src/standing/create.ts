import { StandingProgramSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";
import { sendDefinition } from "./definition-file.ts";
import { programStateText } from "./text.ts";

/** Adds `svc standing create`. */
export function addStandingCreate(standing: Command, context: CommandContext): void {
  const create = standing
    .command("create")
    .description("check a definition as a whole and let it stand; print its id, or every fault with its line")
    .argument("<slug>", "its name in the project, such as tell-sales")
    .argument("<definition>", "file of the definition, or - for standard input")
    .option("--paused", "start nothing until it is resumed")
    .action(async (slug: string, file: string, options: ProjectOptions & JsonOption & { paused?: true }) => {
      const client = await openProjectClient(options, context);
      const { standingProgram: program } = await sendDefinition(file, context, (definitionJson) =>
        client.standing.createStandingProgram({ slug, definitionJson, paused: options.paused ?? false }),
      );
      if (program === undefined) return;
      context.print(options.json ? messageText(StandingProgramSchema, program) : program.id);
      const [next] = program.nextTimes;
      const heard = program.sourceKind === "trigger" ? ", and starts with each event of its trigger" : "";
      const due = next === undefined ? heard : `, and due ${timeText(next)}`;
      context.note(`It is ${programStateText(program)}${due}.`);
    });
  addExamples(addProjectOptions(addJson(create, "the program as JSON")), [
    "svc standing create morning-report morning-report.json",
    "generate-definition | svc standing create tell-sales - --paused",
  ]);
}
