import { type RerunJobResponse, RerunJobResponseSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { addWatchOptions, type WatchOptions, watchJob, watchNotes } from "./watch/watch-job.ts";

type RerunOptions = WatchOptions & {
  input?: string;
  params?: string;
  repin?: true;
  idempotencyKey?: string;
  watch?: true;
};

/** Adds `svc jobs rerun`. */
export function addJobRerun(jobs: Command, context: CommandContext): void {
  const rerun = jobs
    .command("rerun")
    .description("submit the program of a job again as a new job; print its id, and what changed of its tools since")
    .argument("<id>", "id of the job, job_…")
    .option("--input <json>", "another input, by the program's inputSchema; without it that of the job")
    .option("--params <json>", 'other values for params of the program, such as {"minValue": 1000}')
    .option("--repin", "run on the definitions of today, and not on those that the job ran on")
    .option("--idempotency-key <text>", "makes it safe to repeat: with the same key it is the same new job")
    .option("--watch", "show its progress to its end")
    .action((id: string, options: RerunOptions) => rerunJob(id, options, context));
  addProjectOptions(addWatchOptions(rerun)).addHelpText("after", watchNotes);
  addExamples(rerun, [
    "svc jobs rerun job_01h455vb4pex5vsknk084sn02q --watch",
    'svc jobs rerun job_01h455vb4pex5vsknk084sn02q --repin --input \'{"calendar": "primary"}\'',
  ]);
}

async function rerunJob(id: string, options: RerunOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const rerun = await client.jobs.rerunJob({
    id,
    inputJson: options.input ?? "",
    paramsJson: options.params ?? "",
    repin: options.repin ?? false,
    idempotencyKey: options.idempotencyKey ?? "",
  });
  for (const line of driftLines(rerun)) context.note(line);
  if (rerun.job === undefined) return;
  if (options.watch) {
    context.note(rerun.job.id);
    return watchJob(client, rerun.job.id, { options, context });
  }
  context.print(options.json ? messageText(RerunJobResponseSchema, rerun) : rerun.job.id);
}

function driftLines({ drift }: RerunJobResponse): string[] {
  return drift.map(({ toolSlug, what, before, after }) => {
    if (what === "gone") return `${toolSlug} is in the catalog no more`;
    const isShort = what === "version" || what === "accessClass";
    return `${toolSlug} has another ${what}${isShort ? `: ${plainText(before)}, and now ${plainText(after)}` : ""}`;
  });
}
