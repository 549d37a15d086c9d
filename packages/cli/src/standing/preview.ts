import { PreviewStandingProgramResponseSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";
import { sendDefinition } from "./definition-file.ts";
import { passedOverText } from "./text.ts";

type PreviewOptions = ProjectOptions & JsonOption & { program?: string; count: number };

/** Adds `svc standing preview`. */
export function addStandingPreview(standing: Command, context: CommandContext): void {
  const preview = standing
    .command("preview")
    .description("tell when a definition, or a program that stands, is due next, or by which events; nothing is stored")
    .argument("[definition]", "file of the definition, or - for standard input")
    .option("--program <program>", "slug or id of a program that stands")
    .option("--count <count>", "times to tell, at most 100", parseCount, 10)
    .action(async (file: string | undefined, options: PreviewOptions) => {
      const { program: id = "", count } = options;
      if (file === undefined && id === "") throw new CommandError("name a file, or a program with --program");
      const { standing: client } = await openProjectClient(options, context);
      const ask = (definitionJson: string) => client.previewStandingProgram({ id, definitionJson, count });
      const { answer: found, notes } =
        file === undefined ? { answer: await ask(""), notes: [] } : await sendDefinition(file, context, ask);
      if (options.json) return context.print(messageText(PreviewStandingProgramResponseSchema, found));
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
    });
  addExamples(addProjectOptions(addJson(preview, "the times and the estimate as JSON")), [
    "svc standing preview morning-report.json",
    "svc standing preview --program morning-report --count 100",
  ]);
}
