import { PreviewStandingProgramResponseSchema, StandingProgramSchema, StandingService } from "@svc/gen/standing";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { parseCount } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { tableLines, timeText } from "../../text/table.ts";
import { sendDefinition } from "../jobs/program-file.ts";
import { dueText, passedOverText, pendingText, programStateText } from "./text.ts";

/** The command `svc standing create`, which checks the definition of a schedule and activates it. */
export const addStandingCreate = command(
  StandingService.method.createStandingProgram,
  {
    says: "check a definition and activate it; print its id, or every problem with its line",
    takes: {
      "<slug>": "its name in the project, such as tell-sales",
      "<definition>": "file of the definition, or - for standard input",
    },
    options: [
      ["--paused", "start no runs until it is resumed"],
      ["--simulate", "if people must approve it: simulate it first, so that they see what it would do"],
    ],
    json: "the program as JSON",
    examples: [
      "svc standing create morning-report morning-report.json",
      "generate-definition | svc standing create tell-sales - --paused",
      "svc standing create clean-up clean-up.json --simulate",
    ],
  },
  async ({ values: { definition }, context, project, asJson }: Run<{ readonly definition: string }>, request) => {
    const { standing } = await project();
    const { answer, notes } = await sendDefinition(definition, context, (definitionJson) =>
      standing.createStandingProgram({ ...request, definitionJson }),
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

/** The command `svc standing update`, which creates the next version of a schedule; runs that already wait keep their version. */
export const addStandingUpdate = command(
  StandingService.method.updateStandingProgram,
  {
    says: "create the next version of a standing program; waiting runs keep their version",
    takes: {
      "<program>": ["its slug or its id, stp_…", { fills: "id" }],
      "<definition>": "file of the definition, or - for standard input",
    },
    options: [
      ["--expect <version>", "refuse if its current version differs", { fills: "expectedVersion", parse: parseCount }],
      ["--simulate", "if people must approve it: simulate it first, so that they see what it would do"],
    ],
    json: "the program as JSON",
    examples: [
      "svc standing update morning-report morning-report.json",
      "svc standing update morning-report morning-report.json --expect 3",
    ],
  },
  async ({ values: { definition }, context, project, asJson }: Run<{ readonly definition: string }>, request) => {
    const { standing } = await project();
    const { answer, notes } = await sendDefinition(definition, context, (definitionJson) =>
      standing.updateStandingProgram({ ...request, definitionJson }),
    );
    const { standingProgram: program } = answer;
    if (program === undefined) return;
    context.print(
      asJson ? messageText(StandingProgramSchema, program) : `${program.id} has version ${program.version}`,
    );
    const pending = pendingText(program);
    if (pending !== undefined) context.note(pending);
    for (const line of notes) context.note(line);
  },
);

type PreviewValues = { readonly definition?: string; readonly program?: string };

/**
 * The command `svc standing preview`. For a standing program that starts at set times, it shows the next times. For one that events start,
 * it shows how many of the latest events would have started it.
 */
export const addStandingPreview = command(
  StandingService.method.previewStandingProgram,
  {
    says: "show when a definition or a standing program is due next, or which events start it; nothing is stored",
    takes: { "[definition]": "file of the definition, or - for standard input" },
    options: [
      ["--program <program>", "slug or id of a standing program", { fills: "id" }],
      ["--count <count>", "number of times to show, at most 100", { parse: parseCount, default: 10 }],
    ],
    json: "the times and the estimate as JSON",
    examples: ["svc standing preview morning-report.json", "svc standing preview --program morning-report --count 100"],
  },
  async ({ values: { definition: file, program = "" }, context, project, asJson }: Run<PreviewValues>, request) => {
    if (file === undefined && program === "") throw new CommandError("name a file, or a program with --program");
    const { standing } = await project();
    const ask = (definitionJson: string) => standing.previewStandingProgram({ ...request, definitionJson });
    const { answer: found, notes } =
      file === undefined ? { answer: await ask(""), notes: [] } : await sendDefinition(file, context, ask);
    if (asJson) return context.print(messageText(PreviewStandingProgramResponseSchema, found));
    const rows = found.nextTimes.map(({ at, effectiveAt, local }) => [local, timeText(at), timeText(effectiveAt)]);
    const isTimed = found.nextTimes.length > 0;
    if (isTimed) context.note(`LOCAL is the time in ${found.timeZone}.`);
    if (isTimed) for (const line of tableLines(["LOCAL", "DUE", "STARTS"], rows)) context.print(line);
    else if (found.seen > 0) context.print(`${found.matched} of the last ${found.seen} events would have started it.`);
    else
      context.print(
        "Its times are not known in advance, and it has received no event yet. A poll starts runs for new rows from its second run on.",
      );
    if (found.passedOver > 0) context.note(passedOverText(found.passedOver));
    if (found.needsApproval) context.note("Each of its jobs waits for approval first.");
    for (const line of notes) context.note(line);
  },
);
