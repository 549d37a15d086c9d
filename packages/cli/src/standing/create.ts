import { StandingProgramSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { sendDefinition } from "./definition-file.ts";
import { dueText, pendingText, programStateText } from "./text.ts";

type CreateOptions = ProjectOptions & JsonOption & { paused?: true; simulate?: true };

/** Adds `svc standing create`. */
export function addStandingCreate(standing: Command, context: CommandContext): void {
  const create = standing
    .command("create")
    .description("check a definition as a whole and let it stand; print its id, or every fault with its line")
    .argument("<slug>", "its name in the project, such as tell-sales")
    .argument("<definition>", "file of the definition, or - for standard input")
    .option("--paused", "start nothing until it is resumed")
    .option("--simulate", "where people have to approve it: simulate it first, so that they see what it would do")
    .action(async (slug: string, file: string, options: CreateOptions) => {
      const client = await openProjectClient(options, context);
      const { answer, notes } = await sendDefinition(file, context, (definitionJson) =>
        client.standing.createStandingProgram({
          ...{ slug, definitionJson },
          paused: options.paused ?? false,
          simulate: options.simulate ?? false,
        }),
      );
      const { standingProgram: program } = answer;
      if (program === undefined) return;
      context.print(options.json ? messageText(StandingProgramSchema, program) : program.id);
      const heard = program.sourceKind === "trigger" ? ", and starts with each event of its trigger" : "";
      const due = program.nextTimes.length === 0 ? heard : `, and due ${dueText(program)}`;
      const pending = pendingText(program);
      context.note(`It is ${programStateText(program)}${pending === undefined ? due : ""}.`);
      if (pending !== undefined) context.note(pending);
      for (const line of notes) context.note(line);
    });
  addExamples(addProjectOptions(addJson(create, "the program as JSON")), [
    "svc standing create morning-report morning-report.json",
    "generate-definition | svc standing create tell-sales - --paused",
    "svc standing create clean-up clean-up.json --simulate",
  ]);
}
