import { StandingProgramSchema, StandingService } from "@svc/gen/standing";
import type { ProjectOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { sendDefinition } from "../jobs/program-file.ts";
import { dueText, pendingText, programStateText } from "./text.ts";

type CreateOptions = ProjectOptions & JsonOption & { paused?: true; simulate?: true };

/** Adds `svc standing create`. */
export const addStandingCreate = command(
  StandingService.method.createStandingProgram,
  {
    says: "check a definition as a whole and let it stand; print its id, or every fault with its line",
    takes: {
      "<slug>": "its name in the project, such as tell-sales",
      "<definition>": "file of the definition, or - for standard input",
    },
    options: [
      ["--paused", "start nothing until it is resumed"],
      ["--simulate", "where people have to approve it: simulate it first, so that they see what it would do"],
    ],
    json: "the program as JSON",
    examples: [
      "svc standing create morning-report morning-report.json",
      "generate-definition | svc standing create tell-sales - --paused",
      "svc standing create clean-up clean-up.json --simulate",
    ],
  },
  async ({
    values: options,
    context,
    project,
    asJson,
  }: Run<CreateOptions & { readonly slug: string; readonly definition: string }>) => {
    const { slug, definition: file } = options;

    const client = await project();
    const { answer, notes } = await sendDefinition(file, context, (definitionJson) =>
      client.standing.createStandingProgram({
        ...{ slug, definitionJson },
        paused: options.paused ?? false,
        simulate: options.simulate ?? false,
      }),
    );
    const { standingProgram: program } = answer;
    if (program === undefined) return;
    context.print(asJson ? messageText(StandingProgramSchema, program) : program.id);
    const heard = program.sourceKind === "trigger" ? ", and starts with each event of its trigger" : "";
    const due = program.nextTimes.length === 0 ? heard : `, and due ${dueText(program)}`;
    const pending = pendingText(program);
    context.note(`It is ${programStateText(program)}${pending === undefined ? due : ""}.`);
    if (pending !== undefined) context.note(pending);
    for (const line of notes) context.note(line);
  },
);
