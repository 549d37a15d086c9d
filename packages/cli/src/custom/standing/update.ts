import { StandingProgramSchema, StandingService } from "@svc/gen/standing";
import type { ProjectOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import { type JsonOption, parseCount } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { sendDefinition } from "../jobs/program-file.ts";
import { pendingText } from "./text.ts";

type UpdateOptions = ProjectOptions & JsonOption & { expect?: number; simulate?: true };

/** Adds `svc standing update`. */
export const addStandingUpdate = command(
  StandingService.method.updateStandingProgram,
  {
    says: "make the next version of a standing program; runs that wait keep theirs",
    takes: {
      "<program>": "its slug or its id, stp_…",
      "<definition>": "file of the definition, or - for standard input",
    },
    options: [
      ["--expect <version>", "refuse when this is not the version that is there", { parse: parseCount }],
      ["--simulate", "where people have to approve it: simulate it first, so that they see what it would do"],
    ],
    json: "the program as JSON",
    examples: [
      "svc standing update morning-report morning-report.json",
      "svc standing update morning-report morning-report.json --expect 3",
    ],
  },
  async ({
    values: options,
    context,
    project,
    asJson,
  }: Run<UpdateOptions & { readonly program: string; readonly definition: string }>) => {
    const { program: id, definition: file } = options;

    const client = await project();
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
      asJson ? messageText(StandingProgramSchema, program) : `${program.id} is of version ${program.version}`,
    );
    const pending = pendingText(program);
    if (pending !== undefined) context.note(pending);
    for (const line of notes) context.note(line);
  },
);
