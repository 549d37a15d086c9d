import { isObject } from "@svc/core";
import { CheckProgramResponseSchema, JobsService } from "@svc/gen/jobs";
import { withCommands } from "../../command/api-names.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { messageText } from "../../text/message.ts";
import { countText } from "../../text/table.ts";
import type { TypedArgument } from "../call/arguments.ts";
import { faultLines, noteLines, readProgramFile, setOption } from "./program-file.ts";
import { estimateText } from "./show.ts";

type CheckOptions = { readonly set: readonly TypedArgument[]; readonly program: string };

/** The command `svc jobs check`, which checks a program without submitting it and prints every error with its line. */
export const addJobCheck = command(
  JobsService.method.checkProgram,
  {
    says: "check a program without submitting it: print every problem with its line, or what the program can do and notes on it",
    takes: { "<program>": "file of the program, or - for standard input" },
    json: "problems, hash and estimate as JSON",
    examples: ["svc jobs check remind.json", "generate-program | svc jobs check - --json"],
    lastOptions: [setOption],
  },
  async ({ values: options, context, project, asJson }: Run<CheckOptions>) => {
    const { program: file } = options;
    const program = await readProgramFile(file, options.set, context);
    if (isStandingDefinition(program.programJson))
      throw new CommandError(
        `${program.name} is the definition of a standing program, with the program in \`program\`; \`svc standing preview\` checks it`,
      );
    const { jobs } = await project();
    const answer = await jobs.checkProgram({ programJson: program.programJson });
    const { faults, omittedFaults, programHash, estimate, needsApproval, notes } = answer;
    if (asJson) context.print(messageText(CheckProgramResponseSchema, answer));
    else if (faults.length > 0) {
      const told = faults.map(({ field, reason, message, help }) => ({
        field,
        reason,
        help: withCommands(`${message}: ${help}.`),
      }));
      for (const line of await faultLines(told, program)) context.print(line);
    } else {
      context.print(`${program.name} can be submitted: ${estimate === undefined ? "" : estimateText(estimate)}`);
      context.print(`needs approval: ${needsApproval ? "yes" : "no"}`);
      context.print(`programHash: ${programHash}`);
      for (const line of await noteLines(notes, program)) context.print(line);
    }
    const count = faults.length + omittedFaults;
    if (count > 0) throw new CommandError(`${program.name} has ${countText(count, "problem")}`);
  },
);

/** True if the text is the input of CreateStandingProgram: a definition that contains a program. */
function isStandingDefinition(text: string): boolean {
  const given: unknown = JSON.parse(text);
  return isObject(given) && isObject(given["program"]) && !Object.hasOwn(given, "steps");
}
