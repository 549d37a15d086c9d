import { PreviewStandingProgramResponseSchema, StandingService } from "@svc/gen/standing";
import type { ProjectOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { type JsonOption, parseCount } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { tableLines, timeText } from "../../text/table.ts";
import { sendDefinition } from "../jobs/program-file.ts";
import { passedOverText } from "./text.ts";

type PreviewOptions = ProjectOptions & JsonOption & { program?: string; count: number };

/** Adds `svc standing preview`. */
export const addStandingPreview = command(
  StandingService.method.previewStandingProgram,
  {
    says: "tell when a definition, or a program that stands, is due next, or by which events; nothing is stored",
    takes: { "[definition]": "file of the definition, or - for standard input" },
    options: [
      ["--program <program>", "slug or id of a program that stands"],
      ["--count <count>", "times to tell, at most 100", { parse: parseCount, default: 10 }],
    ],
    json: "the times and the estimate as JSON",
    examples: ["svc standing preview morning-report.json", "svc standing preview --program morning-report --count 100"],
  },
  async ({
    values: options,
    context,
    project,
    asJson,
  }: Run<PreviewOptions & { readonly definition: string | undefined }>) => {
    const { definition: file } = options;

    const { program: id = "", count } = options;
    if (file === undefined && id === "") throw new CommandError("name a file, or a program with --program");
    const { standing: client } = await project();
    const ask = (definitionJson: string) => client.previewStandingProgram({ id, definitionJson, count });
    const { answer: found, notes } =
      file === undefined ? { answer: await ask(""), notes: [] } : await sendDefinition(file, context, ask);
    if (asJson) return context.print(messageText(PreviewStandingProgramResponseSchema, found));
    const rows = found.nextTimes.map(({ at, effectiveAt, local }) => [local, timeText(at), timeText(effectiveAt)]);
    const isTimed = found.nextTimes.length > 0;
    if (isTimed) context.note(`LOCAL is the time in ${found.timeZone}.`);
    if (isTimed) for (const line of tableLines(["LOCAL", "DUE", "STARTS"], rows)) context.print(line);
    else if (found.seen > 0)
      context.print(`It would have been started by ${found.matched} of the last ${found.seen} events.`);
    else
      context.print(
        "No times are known before, and no event of it has come yet. A poll starts what is new from its second look on.",
      );
    if (found.passedOver > 0) context.note(passedOverText(found.passedOver));
    if (found.needsApproval) context.note("Each of its jobs waits for approval first.");
    for (const line of notes) context.note(line);
  },
);
