import { StandingRunSchema, StandingService } from "@svc/gen/standing";
import { command, type Run } from "../../command/declared.ts";
import { readText } from "../../command/input.ts";
import { messageText } from "../../text/message.ts";
import { type WatchOptions, watchJob, watchParts } from "../jobs/watch/watch-job.ts";
import { runStateText } from "./text.ts";

type RunOptions = WatchOptions & { input?: string; event?: string; idempotencyKey?: string; watch?: true };

/** Adds `svc standing run`. */
export const addStandingRun = command(
  StandingService.method.runStandingProgram,
  {
    says: "make a run of a standing program now, by the rules of those that are due",
    takes: { "<program>": "its slug or its id, stp_…" },
    options: [
      ["--input <file>", "file of the input, or - for standard input, in place of what the definition makes"],
      ["--event <id>", "an event of its trigger, evt_…, that the definition makes the input of"],
      ["--idempotency-key <text>", "makes running safe to repeat: with the same key it is the same run"],
      ["--watch", "show the progress of its job to the end"],
    ],
    ...watchParts,
    examples: [
      "svc standing run morning-report --watch",
      "svc standing run tell-sales --event evt_01m7z7kb6becaathdprccakdr0",
    ],
  },
  async ({ values: options, context, project, asJson }: Run<RunOptions & { readonly program: string }>) => {
    const { program: id } = options;

    const client = await project();
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
    context.print(asJson ? messageText(StandingRunSchema, made) : made.id);
    context.note(`The run is ${runStateText(made)}${made.jobId === "" ? "" : `; its job is ${made.jobId}`}.`);
  },
);
