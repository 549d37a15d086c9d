import { StandingRunSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { readText } from "../command/input.ts";
import { addWatchOptions, type WatchOptions, watchJob, watchNotes } from "../jobs/watch/watch-job.ts";
import { messageText } from "../text/message.ts";
import { runStateText } from "./text.ts";

type RunOptions = WatchOptions & { input?: string; event?: string; idempotencyKey?: string; watch?: true };

/** Adds `svc standing run`. */
export function addStandingRun(standing: Command, context: CommandContext): void {
  const run = standing
    .command("run")
    .description("make a run of a standing program now, by the rules of those that are due")
    .argument("<program>", "its slug or its id, stp_…")
    .option("--input <file>", "file of the input, or - for standard input, in place of what the definition makes")
    .option("--event <id>", "an event of its trigger, evt_…, that the definition makes the input of")
    .option("--idempotency-key <text>", "makes running safe to repeat: with the same key it is the same run")
    .option("--watch", "show the progress of its job to the end")
    .action(async (id: string, options: RunOptions) => {
      const client = await openProjectClient(options, context);
      const { input } = options;
      const inputJson = input === undefined ? "" : await readText(input, input === "-" ? "stdin" : input, context);
      const { event: eventId = "", idempotencyKey = "" } = options;
      const request = { id, inputJson, idempotencyKey, eventId };
      const { run: made } = await client.standing.runStandingProgram(request);
      if (made === undefined) return;
      if (options.watch && made.jobId !== "") {
        context.note(made.jobId);
        await watchJob(client, made.jobId, { options, context });
        return;
      }
      context.print(options.json ? messageText(StandingRunSchema, made) : made.id);
      context.note(`The run is ${runStateText(made)}${made.jobId === "" ? "" : `; its job is ${made.jobId}`}.`);
    });
  addProjectOptions(addWatchOptions(run)).addHelpText("after", watchNotes);
  addExamples(run, [
    "svc standing run morning-report --watch",
    "svc standing run tell-sales --event evt_01m7z7kb6becaathdprccakdr0",
  ]);
}
